// What a threshold does: at the alpha of the slider, at costs of one's own, or where it was dragged to.

// As `per_thousand` and `per_thousand_range` of the library write them.
const decimalsOf = (many) => many >= 9.95 || many === 0 ? 0 : many > 0.95 ? 1 : Math.min(1 - Math.floor(Math.log10(many)), 6);
const fixed = (value, decimals) => value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
const inThousand = (rate) => fixed(1000 * rate, decimalsOf(1000 * rate));
function between(lower, upper) {
  const decimals = decimalsOf(1000 * upper), unit = 10 ** decimals, tidy = (value) => Number((1000 * value * unit).toFixed(6));
  return `${(Math.floor(tidy(lower)) / unit).toFixed(decimals)} to ${(Math.ceil(tidy(upper)) / unit).toFixed(decimals)}`;
}

const rowOf = (rates, row) => Object.fromEntries(Object.entries(rates).map(([kind, { rate, lower, upper }]) => [kind, { rate: rate[row], lower: lower[row], upper: upper[row] }]));
const pieceOf = (steps) => steps.alpha.findLastIndex((start) => start <= state.own.alpha + 1e-12);

// Accepting all lies at one end of the scores, rejecting all at the other; distances have them the other way round.
const placed = (text) => data.scored === "distance" && /inf/.test(text) ? -number(text) : number(text);

// The threshold of a system and the rates there: {threshold, value, rates}; null where nothing is known of it.
function operating(place) {
  const { card, steps } = data.systems[place];
  if (!card) return null;
  if (state.cut && state.cut.place === place) {
    const value = card.places[state.cut.row];
    return { threshold: digits(value).replace("\u2212", "-"), value, rates: rowOf(card.along, state.cut.row), dragged: true };
  }
  if (state.own && steps && steps.threshold) {
    const row = pieceOf(steps);
    return { threshold: steps.threshold[row], value: placed(steps.threshold[row]), rates: rowOf(steps.rates, row) };
  }
  return { threshold: card.threshold[state.at], value: placed(card.threshold[state.at]), rates: rowOf(card.rates, state.at) };
}

// How many of a thousand are of each kind, at the share of positives that was chosen; the others as the test set has them.
function mixture(share = state.own ? state.own.share : state.share) {
  const positives = share / 100;
  return Object.fromEntries(Object.keys(data.kinds).map((kind) => [kind, kind === "positives" ? positives : (1 - positives) * (data.mixture[kind] || 0)]));
}

// A weighted sum of rates, with its interval by their distances to their own bounds (Zou and Donner 2008).
function together(rates, weights) {
  const kinds = Object.keys(rates).filter((kind) => weights[kind]), rate = kinds.reduce((sum, kind) => sum + weights[kind] * rates[kind].rate, 0);
  const reach = (end) => Math.hypot(...kinds.map((kind) => weights[kind] * (rates[kind][end] - rates[kind].rate)));
  return { rate, lower: Math.max(rate - reach("lower"), 0), upper: rate + reach("upper") };
}

// What a decision costs on average where every trial is accepted, and where none is.
const constantCosts = (own) => [own.alarm * (1 - own.prior), own.miss * own.prior];
const amount = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
const amounts = ({ rate, lower, upper }) => lower === upper ? amount(rate) : `about ${amount(rate)} (${amount(lower)} to ${amount(upper)})`;

// A number in a thousand with its interval; what a constant decision does is exact.
const aboutText = ({ rate, lower, upper }) => lower === upper ? inThousand(rate) : `about ${inThousand(rate)}`;
const intervalText = ({ lower, upper }) => lower === upper ? "" : `(${between(lower, upper)})`;
