// Asking the server.  Addresses are relative to the page's own, so that it works behind any prefix; the token is part
// of them.  An answer that is no success becomes an error with the server's own sentence.

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(address, params, signal) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
  }
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
  let answer;
  try {
    answer = await fetch(`data/${address}${text ? `?${text}` : ""}`, { signal, cache: "no-store" });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refusal(
      0,
      "The server does not answer. Was `xlaprof view` ended? Start it again and open the address that it prints.",
    );
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  throw new Refusal(answer.status, said?.error ?? `The server answered with status ${answer.status}.`);
}

export async function json(address, params = {}, signal = undefined) {
  return (await ask(address, params, signal)).json();
}

export async function binary(address, params = {}, signal = undefined) {
  return (await ask(address, params, signal)).arrayBuffer();
}

/** Asks until the server has reached the state that an answer needs. */
export async function jsonWhenReady(address, params = {}) {
  for (;;) {
    try {
      return await json(address, params);
    } catch (problem) {
      if (problem.status !== 503) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The last of several requests: one runs, one waits, and what is asked meanwhile replaces the one that waits. */
export function latest(run) {
  let busy = false,
    waiting = null;
  return async function next(...words) {
    if (busy) {
      waiting = words;
      return;
    }
    busy = true;
    try {
      await run(...words);
    } finally {
      busy = false;
      if (waiting) {
        const again = waiting;
        waiting = null;
        next(...again);
      }
    }
  };
}
