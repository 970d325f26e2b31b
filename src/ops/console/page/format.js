import { h } from './dom.js';
import { addressOf } from './kinds.js';

/** An amount in minor units for people. It is never a float. */
export function money(minor, currency = 'NGN') {
  if (minor === null || minor === undefined) return '–';
  const amount = BigInt(minor);
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  const major = digits.slice(0, -2).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  const unit = currency === 'NGN' ? '₦' : `${currency} `;
  return `${amount < 0n ? '-' : ''}${unit}${major}.${digits.slice(-2)}`;
}

/** The sum of amounts in minor units. */
export const sum = (amounts) => amounts.reduce((total, minor) => total + BigInt(minor), 0n);

/** A time in UTC, to the second. */
export const time = (iso) =>
  iso ? h('time', { datetime: iso }, iso.replace(/^(\S+)T(\S{8})\.\d+Z$/, '$1 $2Z')) : '–';

/** The time since an instant, in its largest unit. */
export function age(iso) {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(iso)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

const ID = /\b([a-z]{2,3}_[0-7][0-9a-hjkmnp-tv-z]{25})\b/;

/** A text in which each id of ours is a link to its screen. */
export const linked = (text) =>
  String(text)
    .split(new RegExp(ID, 'g'))
    .map((part) => {
      const address = ID.test(part) ? addressOf(part) : null;
      return address === null ? part : h('a', { href: address }, part);
    });

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The value of a field of a record, by its name. */
export function shown(name, value, currency) {
  if (value === null || value === undefined || value === '') return '–';
  if (name.endsWith('_minor')) return money(value, currency);
  if (name === 'temporal_page')
    return h(
      'a',
      { href: value, target: '_blank', rel: 'noopener noreferrer' },
      'Open in Temporal',
    );
  if (typeof value === 'string') return INSTANT.test(value) ? time(value) : linked(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return linked(value.join(', ') || '–');
  const text = JSON.stringify(value, null, 1);
  return text === '{}' || text === '[]' ? '–' : h('pre', {}, linked(text));
}

/** Shown above the fields already. */
const ABOVE = new Set(['id', 'attention']);

/** The fields of a record that have a value. */
export function fields(record) {
  const given = Object.entries(record).filter(
    ([name, value]) => value !== null && value !== '' && !ABOVE.has(name),
  );
  return h(
    'dl',
    {},
    given.map(([name, value]) => [
      h('dt', {}, name.replace(/_minor$/, '').replaceAll('_', ' ')),
      h('dd', {}, shown(name, value, record.currency)),
    ]),
  );
}
