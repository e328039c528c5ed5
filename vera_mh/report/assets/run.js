// The page of one run: which part of it is shown follows from the address.

const flags = (row) => joined([
  row.early && h('span', { class: 'tag' }, 'ended early'),
  row.cut && h('span', { class: 'tag warn' }, 'cut short'),
  row.empty && h('span', { class: 'tag warn' }, 'empty turn'),
], ' ');

const hasRating = (row, letter, dimension) => (dimension ? row.ratings[INDEX.dimensions.indexOf(dimension)] === letter : row.ratings.includes(letter));

function runFilters() {
  const asked = optionsBy(INDEX.rows, (row) => row.fired || []).map(([id, label]) => [id, 'Q' + label]);
  return [
    { name: 'q', label: 'Search', kind: 'search', hint: 'names and everything said' },
    ...sharedFilters(),
    { name: 'dimension', label: 'Dimension', options: INDEX.dimensions.map((name) => [name, name]), test: (row, value, state) => state.has('rating') || !'N-'.includes(row.ratings[INDEX.dimensions.indexOf(value)]) },
    { name: 'rating', label: 'Rating', options: Object.entries(RATINGS).filter(([letter]) => letter !== '-').map(([letter, rating]) => [letter, rating.name]), test: (row, value, state) => hasRating(row, value, state.get('dimension')) },
    { name: 'fired', label: 'Question that fired', options: asked, test: (row, value) => (row.fired || []).includes(value) },
    { name: 'sort', label: 'Order', sort: true, any: 'as run', options: [['low', 'lowest score first'], ['high', 'highest score first'], ['persona', 'by persona']] },
    { name: 'cut', label: 'cut short', kind: 'check', test: (row) => Boolean(row.cut) },
    { name: 'early', label: 'ended early', kind: 'check', test: (row) => Boolean(row.early) },
  ];
}

const list = new List(document.getElementById('show-list'), {
  title: 'Conversations',
  noun: 'conversation',
  filters: runFilters(),
  sorts: { low: ordered((row) => row.score), high: ordered((row) => (row.score === null ? null : -row.score)), persona: (one, two) => (one.persona || '').localeCompare(two.persona || '') || one.place - two.place },
  columns: [
    { name: 'Persona', kind: 'who', cell: whoCell },
    { name: 'Risk', kind: 'risk', cell: (row) => row.risk || '–' },
    { name: 'User simulator', kind: 'simulator', cell: (row) => (row.simulator ? isolated(row.simulator) : '–') },
    ...ratingColumns((row, index, dimension) => pip(row.ratings[index], dimension)),
    { name: 'Score', kind: 'number', cell: (row) => points(row.score) },
    { name: 'Turns', kind: 'number turns', cell: (row) => row.turns || '–' },
    { name: 'Notes', kind: 'notes', cell: flags },
  ],
});

async function showConversation(key, question) {
  const section = document.getElementById('show-reader');
  const row = BY_KEY.get(key);
  if (!row) {
    section.replaceChildren(h('h1', { tabindex: '-1' }, 'There is no such conversation here'), h('p', {}, h('a', { href: '#list' }, 'All conversations')));
    return;
  }
  if (section.dataset.key !== key) {
    const view = await conversation(row);
    section.replaceChildren(...reader(row, view));
    section.dataset.key = key;
  }
  if (question) goTo(document.getElementById(questionId('', question)));
}

function reader(row, view) {
  const link = (id) => '#c/' + row.key + '/q/' + encodeURIComponent(id);
  const facts = joined([row.risk && 'risk level ' + row.risk, row.simulator && ['played by ', isolated(row.simulator)], row.repeat && 'repeat ' + row.repeat, row.turns && plural(row.turns, 'turn'), row.score === null ? 'nothing rated' : 'own score ' + points(row.score)], ' · ');
  return [
    steps(row),
    h('div', {}, h('h1', { tabindex: '-1' }, isolated(row.persona || row.id || 'Conversation ' + row.key)), h('p', { class: 'small' }, facts, ' ', flags(row))),
    verdict(view, link),
    h('div', { class: 'reading' },
      h('section', { class: 'pane card', 'aria-labelledby': 'transcript-title', tabindex: '0' }, h('h2', { id: 'transcript-title' }, 'Transcript'), personaSheet(view), chat(view, '')),
      h('section', { class: 'pane card', 'aria-labelledby': 'path-title', tabindex: '0' }, h('h2', { id: 'path-title' }, 'The judge’s path'), judgingOf(view, ''))),
  ];
}

const VIEWS = {
  list: (rest) => list.open(rest),
  c: (rest) => { const [key, , question] = rest.split('/'); return showConversation(key, question && decodeURIComponent(question)); },
};
startRouting({ list: 'show-list', c: 'show-reader' }, list, VIEWS);
