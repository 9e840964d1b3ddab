// Asking the server: the key of the session goes into a header, slow answers are fetched with a ticket.

const STORED = "spiderproj-key";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Problem extends Error {
  constructor(status, text, field) {
    super(text);
    this.status = status;
    this.field = field;
  }
}

async function ask(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { "X-Spiderproj-Key": localStorage.getItem(STORED) ?? "", ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch {
    throw new Problem(0, "The server of this page does not answer. Start scrapy ui again, and open the address it prints.");
  }
  let values = {};
  try {
    values = await response.json();
  } catch {
    values = { error: `the server answers ${response.status}` };
  }
  if (response.status === 202) {
    await pause(150);
    return ask("GET", `/api/ticket?id=${encodeURIComponent(values.ticket)}`);
  }
  if (!response.ok) throw new Problem(response.status, values.error, values.field);
  return values;
}

// An answer that says "preparing" is being prepared: it is asked for again.
async function patiently(request) {
  for (let wait = 250; ; wait = Math.min(1500, wait * 1.5)) {
    const values = await request();
    if (!values.preparing) return values;
    await pause(wait);
  }
}

export function get(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return patiently(() => ask("GET", text ? `${path}?${text}` : path));
}

export const post = (path, body = {}) => patiently(() => ask("POST", path, body));

export async function enter(token) {
  const { key } = await ask("POST", "/api/enter", { token });
  localStorage.setItem(STORED, key);
}
