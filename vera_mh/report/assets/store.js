// The data of the page: a small index, and blocks of conversations that are unpacked when one of them is wanted.

const INDEX = JSON.parse(document.getElementById('index').textContent);
INDEX.rows.forEach((row, place) => { row.place = place; });
const BY_KEY = new Map(INDEX.rows.map((row) => [row.key, row]));
const KEPT_BLOCKS = 6;
const SEARCHED_AT_ONCE = 8;
const unpacked = new Map();

const parsed = new Promise((done) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', done, { once: true });
  else done();
});

async function blockText(number) {
  const element = document.getElementById('block-' + number);
  if (element && (element.nextElementSibling || document.readyState !== 'loading')) return element.textContent;
  await parsed;  // The file is still being read.
  return document.getElementById('block-' + number).textContent;
}

async function unpack(number) {
  const letters = atob(await blockText(number));
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

function block(number) {
  if (!unpacked.has(number)) {
    unpacked.set(number, unpack(number));
    if (unpacked.size > KEPT_BLOCKS) unpacked.delete(unpacked.keys().next().value);
  }
  return unpacked.get(number);
}

async function conversation(row) {
  return (await block(Math.floor(row.place / INDEX.perBlock)))[row.place % INDEX.perBlock];
}

const spoken = (view) => [...view.turns.map((turn) => turn.text || ''), ...view.path.map((step) => step.reasoning || '')];
const textsOf = (item) => (item.base ? [...spoken(item.base), ...spoken(item.other)] : spoken(item));

// Looks for words in everything that was said; tells after every block how far it is, and stops when told to.
async function searchEverything(words, found, wanted) {
  const blocks = Math.ceil(INDEX.rows.length / INDEX.perBlock);
  const ahead = [];
  for (let number = 0; number < blocks; number += 1) {
    while (ahead.length < SEARCHED_AT_ONCE && number + ahead.length < blocks) ahead.push(unpack(number + ahead.length));
    const items = await ahead.shift();
    if (!wanted()) return;
    const hits = items.flatMap((item, index) => {
      const text = textsOf(item).join('\n').toLowerCase();
      return words.every((word) => text.includes(word)) ? [number * INDEX.perBlock + index] : [];
    });
    found(hits, (number + 1) / blocks);
  }
}
