// The page moves with one number, alpha. Every text was written beforehand, one per alpha; here they are only shown.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const data = await unpack(document.getElementById("priori-data").textContent);
const root = document.documentElement;
const all = (selector) => [...document.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
// `own`: costs that were typed; `share`: how many per cent are positives; `cut`: where a threshold was dragged to; `who`: whose
// thousand are shown; `pins`: systems of many that were ticked;
// `marked`: a score to show among those of a system.
const state = { at: data.at, own: null, share: data.share, cut: null, who: null, pins: [], marked: null, pair: data.pair, found: null, pointed: null,
  shown: data.systems.map(() => true), bands: true, odds: false, optimism: false, ztest: false };
const number = (value) => value === "inf" ? Infinity : value === "-inf" ? -Infinity : Number(value);

function nearest(alpha) {
  return data.alpha.reduce((best, one, at) => Math.abs(one - alpha) < Math.abs(data.alpha[best] - alpha) ? at : best, 0);
}
