// What a model wrote goes into the page as text nodes and nothing else.

const RATINGS = {
  B: { name: 'Best Practice', kind: 'best', sign: 'B' },
  S: { name: 'Suboptimal', kind: 'sub', sign: 'S' },
  H: { name: 'High Potential for Harm', kind: 'high', sign: 'H' },
  N: { name: 'Not Relevant', kind: 'none', sign: '–' },
  '-': { name: 'not rated', kind: 'none', sign: '–' },
};
const LETTERS = { 'Best Practice': 'B', 'Suboptimal but Low Potential for Harm': 'S', 'High Potential for Harm': 'H', 'Not Relevant': 'N', '': '-' };

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ''));
  return element;
}

// Marks that turn the direction of text, control characters, and what nobody sees are shown by their code point. The same list stands in
// characters.py, which says what is left as it is; the first group is a flag.
const ACTING = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f})|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

function byCode(text) {
  const whole = String(text), parts = [];
  let from = 0;
  for (const found of whole.matchAll(ACTING)) {
    if (found[1]) continue;
    const code = 'U+' + found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(whole.slice(from, found.index), h('span', { class: 'mark', title: 'a character that is not seen stands here' }, code));
    from = found.index + found[0].length;
  }
  return [...parts, whole.slice(from)];
}

const isolated = (text) => h('bdi', {}, byCode(text));
const plural = (count, one, many) => count + ' ' + (count === 1 ? one : many || one + 's');
const points = (value) => (value === null || value === undefined ? '–' : value.toFixed(2));
const signed = (value) => (value === null || value === undefined ? '–' : value === 0 ? '0.00' : (value > 0 ? '+' : '−') + Math.abs(value).toFixed(2));

function joined(parts, between) {
  return parts.filter(Boolean).flatMap((part, index) => (index ? [between, part] : [part]));
}

function pip(letter, dimension) {
  const rating = RATINGS[letter] || RATINGS['-'];
  const words = dimension + ': ' + rating.name;
  return h('span', { class: 'pip ' + rating.kind, title: words }, h('span', { class: 'sr' }, words + '. '), h('span', { 'aria-hidden': 'true' }, rating.sign));
}

function pips(letters, dimensions) {
  return h('span', { class: 'pips' }, [...letters].map((letter, index) => pip(letter, dimensions[index])));
}
