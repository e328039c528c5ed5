// Filters of a list. Their state lies in the address, so that a list can be linked to and gone back to.

const NOT_GIVEN = '(not given)';
const named = (value) => value || NOT_GIVEN;

function counted(rows, valuesOf) {
  const counts = new Map();
  for (const row of rows) for (const value of valuesOf(row)) counts.set(value, (counts.get(value) || 0) + 1);
  return counts;
}

function optionsBy(rows, valuesOf, order) {
  const counts = counted(rows, valuesOf);
  const values = [...counts.keys()].sort(order || ((one, two) => one.localeCompare(two, undefined, { numeric: true })));
  return values.map((value) => [value, value + ' (' + counts.get(value) + ')']);
}

const RISKS = ['None', 'Low', 'High', 'Immediate'];
const byRisk = (one, two) => (RISKS.indexOf(one) + 9) % 9 - (RISKS.indexOf(two) + 9) % 9;

function sharedFilters() {
  const one = (name, label, key, order) => ({
    name, label,
    options: optionsBy(INDEX.rows, (row) => [named(row[key])], order),
    test: (row, value) => named(row[key]) === named(value),
  });
  return [one('persona', 'Persona', 'persona'), one('risk', 'Risk level', 'risk', byRisk), one('simulator', 'User simulator', 'simulator')];
}

function control(filter, state, changed) {
  const id = 'filter-' + filter.name;
  const take = (value) => { if (value) state.set(filter.name, value); else state.delete(filter.name); changed(); };
  if (filter.kind === 'check') {
    return h('div', { class: 'check' }, h('input', { type: 'checkbox', id, checked: state.has(filter.name), onchange: (event) => take(event.target.checked ? '1' : '') }), h('label', { for: id }, filter.label));
  }
  if (filter.kind === 'search') {
    const input = h('input', { type: 'search', id, value: state.get(filter.name) || '', autocomplete: 'off', spellcheck: 'false', placeholder: filter.hint, oninput: (event) => take(event.target.value.trim()) });
    return h('div', { class: 'field find' }, h('label', { for: id }, filter.label), input);
  }
  const options = [['', filter.any || 'any'], ...filter.options];
  const chosen = state.has(filter.name) ? (filter.sort ? state.get(filter.name) : named(state.get(filter.name))) : '';
  const select = h('select', { id, onchange: (event) => take(event.target.value) }, options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)));
  return h('div', { class: 'field' }, h('label', { for: id }, filter.label), select);
}
