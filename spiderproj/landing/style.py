"""How the landing page looks: legible in light and dark, on a telephone and on paper; no font, image or script."""

from __future__ import annotations

from typing import Final

CSS: Final = """
:root { color-scheme: light dark; --ink: #1c1e21; --faint: #5b616b; --line: #d9dce1; --paper: #fff; --link: #0b57c9 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e7ea; --faint: #a2a8b3; --line: #3a3e46; --paper: #16181c; --link: #8ab8ff }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { margin: 0 0 .25rem; font-size: 1.75rem; line-height: 1.2 }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.2rem }
h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; font-weight: 600 }
p { margin: .25rem 0 }
a { color: var(--link) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
ul { margin: 0; padding: 0; list-style: none }
li, td, th, h1, h3 { overflow: clip; overflow-clip-margin: .25rem }
.faint, caption, th { color: var(--faint) }
.start { font-size: 1.1rem }
.tables { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0 2.5rem;
  align-items: start }
.tables table { margin-top: 0 }
table { width: 100%; margin: 1rem 0; border-collapse: collapse }
caption { padding-bottom: .25rem; text-align: left; font-weight: 600; color: var(--ink) }
th, td { padding: .25rem .5rem .25rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: 400 }
thead th { overflow-wrap: normal }
.number { padding-right: 0; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.pages ul { columns: 24rem; column-gap: 2.5rem }
.pages li { break-inside: avoid; padding: .1rem 0 }
@media print { body { max-width: none; padding: 0 } a { color: inherit } }
"""
