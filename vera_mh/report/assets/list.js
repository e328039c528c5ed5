// The list: filtered, sorted, one page of rows at a time, so that thousands of rows cost no more than fifty.

const PAGE = 50;
const SHOWN_EVERY = 250;  // milliseconds, while a search goes on

class List {
  constructor(section, { title, noun, filters, columns, sorts }) {
    Object.assign(this, { section, title, noun, filters, columns, sorts });
    this.state = new URLSearchParams();
    this.found = null;
    this.rows = INDEX.rows;
  }

  open(query) {
    this.state = new URLSearchParams(query);
    this.at = 0;
    this.build();
    this.search();
    this.show();
  }

  get address() {
    const query = this.state.toString();
    return '#list' + (query ? '?' + query : '');
  }

  build() {
    const changed = (searching) => {
      this.at = 0;
      history.replaceState(null, '', this.address);
      if (searching) this.search();
      this.show();
    };
    const form = h('form', { class: 'filters', role: 'search', 'aria-label': 'Filters', onsubmit: (event) => event.preventDefault() },
      this.filters.filter((filter) => !filter.options || filter.options.length > 1 || this.state.has(filter.name)).map((filter) => control(filter, this.state, () => changed(filter.kind === 'search'))),
      h('button', { type: 'button', onclick: () => { location.hash = '#list'; if (!this.state.toString()) return; this.open(''); } }, 'Clear'));
    this.status = h('p', { class: 'small', role: 'status' });
    this.body = h('tbody', { role: 'rowgroup' });
    const head = this.columns.map((column) => h('th', { scope: 'col', role: 'columnheader', class: column.kind, title: column.title }, column.title ? [h('span', { 'aria-hidden': 'true' }, column.name), h('span', { class: 'sr' }, column.title)] : column.name));
    const table = h('table', { class: 'list', role: 'table', 'aria-labelledby': 'list-title' }, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head)), this.body);
    this.pager = h('nav', { class: 'pager', 'aria-label': 'Pages of the list' });
    this.section.replaceChildren(h('h1', { id: 'list-title', tabindex: '-1' }, this.title), form, h('div', { class: 'bar-of-list' }, this.status, this.pager), table, key());
  }

  // Names are looked through at once; what was said, as fast as it unpacks.
  search() {
    const query = (this.state.get('q') || '').toLowerCase();
    const words = query.split(/\s+/).filter(Boolean);
    const token = (this.token = {});
    clearTimeout(this.timer);
    this.progress = 1;
    if (!words.length) { this.found = null; return; }
    this.found = new Set(INDEX.rows.filter((row) => words.every((word) => ((row.persona || '') + ' ' + (row.id || '')).toLowerCase().includes(word))).map((row) => row.place));
    this.progress = 0;
    let shown = performance.now();
    const add = (hits, progress) => {
      hits.forEach((place) => this.found.add(place));
      this.progress = progress;
      if (progress < 1 && performance.now() - shown < SHOWN_EVERY) return;
      this.show();
      shown = performance.now();
    };
    this.timer = setTimeout(() => searchEverything(words, add, () => this.token === token).catch((error) => tell(reason(error))), 200);
  }

  select() {
    const active = this.filters.filter((filter) => filter.test && this.state.has(filter.name));
    const rows = INDEX.rows.filter((row) => (!this.found || this.found.has(row.place)) && active.every((filter) => filter.test(row, this.state.get(filter.name), this.state)));
    const sort = this.sorts[this.state.get('sort')];
    this.rows = sort ? rows.slice().sort(sort) : rows;
  }

  show() {
    this.select();
    const last = Math.max(0, Math.ceil(this.rows.length / PAGE) - 1);
    this.at = Math.min(this.at, last);
    const from = this.at * PAGE;
    const shown = this.rows.slice(from, from + PAGE);
    const searching = this.found && this.progress < 1 ? ' Searching what was said: ' + Math.round(100 * this.progress) + '%.' : '';
    const total = plural(INDEX.rows.length, this.noun);
    const said_ = this.rows.length ? (this.rows.length === INDEX.rows.length ? total : this.rows.length + ' of ' + total) + (last ? ', ' + (from + 1) + ' to ' + (from + shown.length) + ' shown.' : '.') : 'None of ' + total + ' fits.';
    this.status.textContent = said_ + searching;
    this.body.replaceChildren(...shown.map((row) => h('tr', { role: 'row' }, this.columns.map((column) => h('td', { role: 'cell', class: column.kind, 'data-label': column.name.toLowerCase() }, column.cell(row))))));
    const turn = (by) => () => { this.at += by; this.show(); document.getElementById('list-title').focus(); };
    this.pager.replaceChildren(...(last ? [h('button', { type: 'button', disabled: this.at === 0, onclick: turn(-1) }, 'Previous page'), h('button', { type: 'button', disabled: this.at === last, onclick: turn(1) }, 'Next page')] : []));
  }

  // Where a conversation stands in the list as it is filtered now.
  around(row) {
    const rows = this.rows.includes(row) ? this.rows : INDEX.rows;
    const place = rows.indexOf(row);
    return { place, count: rows.length, before: rows[place - 1], after: rows[place + 1] };
  }
}

// By a number, smallest first; what has none comes last.
const ordered = (by) => (one, two) => (by(one) === null) - (by(two) === null) || by(one) - by(two) || one.place - two.place;

// What the letters mean, for those who see them; others are told with each.
function key() {
  const words = Object.entries(RATINGS).filter(([letter]) => letter !== '-').map(([, rating]) => h('span', {}, h('span', { class: 'pip ' + rating.kind }, rating.sign), ' ', rating.name));
  return h('p', { class: 'small key', 'aria-hidden': 'true' }, words);
}

function whoCell(row) {
  return [h('a', { href: '#c/' + row.key }, isolated(row.persona || row.id || row.key)), row.repeat ? h('span', { class: 'small' }, ' repeat ' + row.repeat) : null];
}

function ratingColumns(lettersOf) {
  return INDEX.dimensions.map((dimension, index) => ({
    name: dimension.split(' ')[0], title: dimension, kind: 'rating', cell: (row) => lettersOf(row, index, dimension),
  }));
}
