"""The spiders: arguments in, captures out; nothing about storage."""
