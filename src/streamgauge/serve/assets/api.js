// Requests to the server, and live news over a WebSocket that reconnects by itself.
export class Refusal extends Error {}

async function request(address, options) {
  const response = await fetch(address, options);
  if (response.status >= 500) throw new Error(`the server answered ${response.status}`);
  if (!response.ok) throw new Refusal((await response.text()) || `the server answered ${response.status}`);
  return response;
}

export const getJson = async (address) => (await request(address)).json();

export const postJson = async (address, facts) =>
  (await request(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(facts) })).json();

export function buildQuery(parts) {
  const search = new URLSearchParams();
  for (const [key, value] of parts) if (value !== null && value !== undefined) search.append(key, value);
  return search.toString();
}

const toList = (column) => Array.from(column, (value) => (Number.isNaN(value) ? null : value));

// Fetches the curves of a panel: a header in JSON, rows and times as float64, then the columns of each curve as float32.
export async function fetchCurves(id, panel, view, points) {
  const parts = [["id", id], ["panel", JSON.stringify(panel)], ["points", points], ["from", view?.from], ["to", view?.to], ["x", view?.x]];
  const bytes = await (await request(`/api/curves?${buildQuery(parts)}`)).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const rows = Array.from(new Float64Array(bytes, 4 + length, header.n));
  const columns = header.bands ? 3 : 1;
  const times = header.times ? toList(new Float64Array(bytes, 4 + length + 8 * header.n, header.n)) : null;
  const start = 4 + length + 8 * header.n * (times ? 2 : 1);
  const curve = (k) => Array.from({ length: columns }, (_, band) =>
    toList(new Float32Array(bytes, start + 4 * header.n * (columns * k + band), header.n)));
  return { ...header, rows, times, curves: header.names.map((_, k) => curve(k)) };
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
      if (this.wanted) this.sendWanted();
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
    if (this.socket.readyState === WebSocket.OPEN) this.sendWanted();
  }

  sendWanted() {
    this.socket.send(JSON.stringify(this.wanted));
  }
}
