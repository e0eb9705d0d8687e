// The page moves with one number, alpha. Every text was written beforehand, one per alpha; here they are only shown.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const data = await unpack(document.getElementById("priori-data").textContent);
const root = document.documentElement;
const all = (selector) => [...document.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const state = { at: data.at, own: null, pair: data.pair, found: null, pointed: null, shown: data.systems.map(() => true),
  bands: true, optimism: false, ztest: false, allMultiples: false };

function nearest(alpha) {
  return data.alpha.reduce((best, one, at) => Math.abs(one - alpha) < Math.abs(data.alpha[best] - alpha) ? at : best, 0);
}
