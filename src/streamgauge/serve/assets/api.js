// Talks to the server: answers by address, news by a socket that comes back by itself.
export class Refusal extends Error {}

async function answer(address, options) {
  const response = await fetch(address, options);
  if (response.status >= 500) throw new Error(`the server answered ${response.status}`);
  if (!response.ok) throw new Refusal((await response.text()) || `the server answered ${response.status}`);
  return response;
}

export const ask = async (address) => (await answer(address)).json();

export const send = async (address, facts) =>
  (await answer(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(facts) })).json();

export function query(parts) {
  const search = new URLSearchParams();
  for (const [key, value] of parts) if (value !== null && value !== undefined) search.append(key, value);
  return search.toString();
}

const listed = (column) => Array.from(column, (value) => (Number.isNaN(value) ? null : value));

// The curves of a panel: a head in JSON, rows as float64, then the columns of each curve as float32.
export async function curves(id, panel, view, points) {
  const parts = [["id", id], ["panel", JSON.stringify(panel)], ["points", points], ["from", view?.from], ["to", view?.to]];
  const bytes = await (await answer(`/api/curves?${query(parts)}`)).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const rows = Array.from(new Float64Array(bytes, 4 + length, head.n));
  const columns = head.bands ? 3 : 1;
  const start = 4 + length + 8 * head.n;
  const curve = (k) => Array.from({ length: columns }, (_, band) =>
    listed(new Float32Array(bytes, start + 4 * head.n * (columns * k + band), head.n)));
  return { ...head, rows, curves: head.names.map((_, k) => curve(k)) };
}

export class Live {
  constructor({ onNews, onLink }) {
    Object.assign(this, { onNews, onLink, wait: 500, wanted: null });
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/api/live`);
    this.socket.addEventListener("open", () => {
      this.wait = 500;
      this.onLink(true);
      if (this.wanted) this.say();
    });
    this.socket.addEventListener("message", (event) => this.onNews(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => {
      this.onLink(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, 5_000);
    });
  }

  subscribe(wanted) {
    this.wanted = wanted;
    if (this.socket.readyState === WebSocket.OPEN) this.say();
  }

  say() {
    this.socket.send(JSON.stringify(this.wanted));
  }
}
