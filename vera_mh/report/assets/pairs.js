// The page of two runs: the pairs of conversations, and each pair side by side.

const SIDES = ['base', 'other'];
const better = (one, two) => 'HSB'.indexOf(two) - 'HSB'.indexOf(one);
const bothRated = (row, place) => 'HSB'.includes(row.ratings[place]) && 'HSB'.includes(row.others[place]);
const WAYS = {
  any: (row, places) => places.some((place) => row.ratings[place] !== row.others[place]),
  worse: (row, places) => places.some((place) => bothRated(row, place) && better(row.ratings[place], row.others[place]) < 0),
  better: (row, places) => places.some((place) => bothRated(row, place) && better(row.ratings[place], row.others[place]) > 0),
  same: (row, places) => places.every((place) => row.ratings[place] === row.others[place]),
};
const ALL = INDEX.dimensions.map((_, place) => place);

function pairFilters() {
  return [
    { name: 'q', label: 'Search', kind: 'search', hint: 'names and everything said' },
    ...sharedFilters(),
    { name: 'dimension', label: 'Dimension', options: INDEX.dimensions.map((name) => [name, name]), test: (row, value, state) => state.has('change') || WAYS.any(row, [INDEX.dimensions.indexOf(value)]) },
    { name: 'change', label: 'Change', options: [['any', 'any rating changed'], ['worse', 'a rating got worse'], ['better', 'a rating got better'], ['same', 'every rating the same']], any: 'all pairs', sort: true, test: (row, value, state) => WAYS[value](row, state.has('dimension') ? [INDEX.dimensions.indexOf(state.get('dimension'))] : ALL) },
    { name: 'sort', label: 'Order', sort: true, any: 'as run', options: [['loss', 'largest loss first'], ['gain', 'largest gain first'], ['persona', 'by persona']] },
  ];
}

function moved(row, place, dimension) {
  const one = row.ratings[place];
  const two = row.others[place];
  if (one === two) return pip(one, dimension);
  return h('span', { class: 'moved' }, pip(one, dimension + ' in base'), h('span', { 'aria-hidden': 'true' }, '→'), pip(two, dimension + ' in other'));
}

const list = new List(document.getElementById('show-list'), {
  title: 'Pairs',
  noun: 'pair',
  filters: pairFilters(),
  sorts: { loss: ordered((row) => row.difference), gain: ordered((row) => (row.difference === null ? null : -row.difference)), persona: (one, two) => one.persona.localeCompare(two.persona) || one.place - two.place },
  columns: [
    { name: 'Persona', kind: 'who', cell: whoCell },
    { name: 'Risk', kind: 'risk', cell: (row) => row.risk || '–' },
    { name: 'User simulator', kind: 'simulator', cell: (row) => (row.simulator ? isolated(row.simulator) : '–') },
    ...ratingColumns(moved),
    { name: 'Base', kind: 'number turns', cell: (row) => points(row.base) },
    { name: 'Other', kind: 'number turns', cell: (row) => points(row.other) },
    { name: 'Change', kind: 'number', cell: (row) => h('span', { class: row.difference < 0 ? 'worse' : row.difference > 0 ? 'better' : '' }, signed(row.difference)) },
  ],
});

async function showPair(key, target) {
  const section = document.getElementById('show-reader');
  const row = BY_KEY.get(key);
  if (!row) {
    section.replaceChildren(h('h1', { tabindex: '-1' }, 'There is no such pair here'), h('p', {}, h('a', { href: '#list' }, 'All pairs')));
    return;
  }
  if (section.dataset.key !== key) {
    const pair = await conversation(row);
    section.replaceChildren(...besides(row, pair));
    section.dataset.key = key;
  }
  if (target) {
    const [side, question] = target.split('~');
    goTo(document.getElementById(questionId(side + '-', question)));
  }
}

function besides(row, pair) {
  const facts = joined([row.risk && 'risk level ' + row.risk, row.simulator && ['played by ', isolated(row.simulator)], row.repeat && 'repeat ' + row.repeat, 'own score ' + points(row.base) + ' in base, ' + points(row.other) + ' in other'], ' · ');
  return [
    steps(row),
    h('div', {}, h('h1', { tabindex: '-1' }, isolated(row.persona || row.id || 'Pair ' + row.key)), h('p', { class: 'small' }, facts)),
    h('div', { class: 'reading pair' }, SIDES.map((side, place) => oneSide(row, pair[side], side, INDEX.names[place]))),
  ];
}

function oneSide(row, view, side, name) {
  const link = (id) => '#c/' + row.key + '/q/' + side + '~' + encodeURIComponent(id);
  return h('section', { class: 'pane card', 'aria-labelledby': side + '-title', tabindex: '0' },
    h('h2', { id: side + '-title' }, side === 'base' ? 'Base: ' : 'Other: ', isolated(name)),
    verdict(view, link),
    personaSheet(view),
    chat(view, side + '-'),
    h('details', { class: 'ahead' }, h('summary', {}, 'The judge’s path'), judgingOf(view, side + '-')));
}

startRouting({ list: 'show-list', c: 'show-reader' }, list, {
  list: (rest) => list.open(rest),
  c: (rest) => { const [key, , target] = rest.split('/'); return showPair(key, target && decodeURIComponent(target)); },
});
