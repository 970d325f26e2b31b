import type { AuditedState, AuditEntry } from '../core/audit/entry.js';

/** Acts on one target that took rights away, and the command that takes them away again, or a comment that says where to do it. */
export type Revocation = { target: string; tenant: string | null; command: string };

/** The acts on one target, in their order. */
type Acts = readonly [AuditEntry, ...AuditEntry[]];

/** The commands that repeat what the acts took away; none if a later act gave it back. `name`: the target as a command takes it. */
type Rule = (acts: Acts, name: string) => string[];

/** The rights of operators come first: whoever has lost them could give the others back. */
const RULES: Readonly<Record<string, Rule>> = {
  operators: operatorCommands,
  'operators.keys': (acts, name) => when(has(acts, 'revoke'), `operators revoke-key ${name} --yes`),
  tenants: tenantCommands,
  keys: keyCommands,
  'webhooks.endpoints': endpointCommands,
  cards: (acts, name) =>
    when(lastOf(acts, ['lock', 'unlock']) === 'lock', `cards lock ${name} ${REASON}`),
  'recurring-charges': recurringCommands,
  approvals: (acts, name) => when(has(acts, 'reject'), `approvals reject ${name} ${REASON}`),
  customers: ([{ tenant_id: tenant }], name) => [
    `customers erase --tenant ${tenant} --customer ${name} ${REASON} --yes`,
  ],
};

const REASON = "--reason 'again after a restore'";

/**
 * The rights that these entries of the audit log took away for good, as commands that take them away again. Targets that the
 * entries themselves have made are left out: a database from before does not have them. `customerIdOf` finds the tenant's own id of
 * a customer, which the audit log does not have; null if there is no such customer.
 */
export async function revocationsIn(
  entries: readonly AuditEntry[],
  customerIdOf: (tenantId: string, recordId: string) => Promise<string | null>,
): Promise<Revocation[]> {
  const done = entries.filter(({ after }) => !(after && 'refused' in after));
  const made = new Set(done.flatMap(idsMadeBy));
  const signedUp = new Set(done.filter(isFirstSignIn).map(({ after }) => after?.['id']));
  const found: Revocation[] = [];
  for (const [kind, rule] of Object.entries(RULES)) {
    const own = done.filter(({ action, target }) => kindOf(action) === kind && !made.has(target));
    for (const target of new Set(own.map((act) => act.target))) {
      const acts = own.filter((act) => act.target === target) as unknown as Acts;
      const tenant = acts[0].tenant_id;
      const name = kind === 'customers' ? await customerIdOf(String(tenant), target) : target;
      if (name === null) continue;
      const repeated = rule(acts, quoted(name)).map((command) => `bursar ${command}`);
      const commands = repeated.length > 0 && signedUp.has(target) ? [AT_THE_ISSUER] : repeated;
      found.push(...commands.map((command) => ({ target, tenant, command })));
    }
  }
  return found;
}

/** The account is not in the restored database, and the person's next sign-in makes it anew. */
const AT_THE_ISSUER =
  '# take the roles from this person at the issuer: a sign-in after the backup made the account';

const isFirstSignIn = ({ action, before }: AuditEntry): boolean =>
  action === 'operators.sign_in' && before === null;

const kindOf = (action: string) => action.slice(0, action.lastIndexOf('.'));
const verbOf = ({ action }: AuditEntry) => action.slice(action.lastIndexOf('.') + 1);

/** The ids of what an act has made. */
function idsMadeBy(entry: AuditEntry): string[] {
  const { after } = entry;
  if (!['create', 'add', 'rotate', 'request'].includes(verbOf(entry))) return [];
  // The audited state of an approval has its kind. In another state `approval` names the request that the act has used.
  const approval = after?.['kind'] ? after['approval'] : null;
  const ids = [after?.['id'], after?.['key'], approval].filter((id) => typeof id === 'string');
  // A rotated endpoint keeps its id.
  return ids.filter((id) => id !== entry.target);
}

const when = (isTrue: boolean, command: string): string[] => (isTrue ? [command] : []);

const has = (acts: Acts, verb: string): boolean => acts.some((act) => verbOf(act) === verb);

/** The last of these verbs; undefined if there is none. */
const lastOf = (acts: Acts, verbs: readonly string[]): string | undefined =>
  acts.map(verbOf).findLast((verb) => verbs.includes(verb));

/** The target before the first of the acts and after the last one. */
const ends = (acts: Acts) => ({
  before: acts[0].before ?? {},
  after: acts.at(-1)?.after ?? {},
});

const textsOf = (state: NonNullable<AuditedState>, name: string): string[] => {
  const value = state[name];
  return Array.isArray(value) ? value.map(String) : [];
};

function operatorCommands(acts: Acts, name: string): string[] {
  if (!has(acts, 'update')) return [];
  const { before, after } = ends(acts);
  const roles = textsOf(after, 'roles');
  return [
    ...when(!before['disabled_at'] && Boolean(after['disabled_at']), `operators disable ${name}`),
    ...when(
      roles.length > 0 && textsOf(before, 'roles').some((role) => !roles.includes(role)),
      `operators roles ${name} --role ${roles.join(' ')}`,
    ),
  ];
}

/** The key that replaced the old one is lost, so the old one is rotated again. */
function keyCommands(acts: Acts, name: string): string[] {
  if (has(acts, 'revoke')) return [`keys revoke ${name} --yes`];
  return when(has(acts, 'rotate'), `keys rotate ${name} --overlap-hours 0`);
}

function endpointCommands(acts: Acts, name: string): string[] {
  if (has(acts, 'remove')) return [`webhooks endpoints remove ${name} --yes`];
  const isDisabled = lastOf(acts, ['disable', 'enable', 'resume']) === 'disable';
  const events = acts.findLast((act) => verbOf(act) === 'update')?.after?.['events'];
  const patterns = Array.isArray(events) ? events.join(',') : '*';
  return [
    ...when(has(acts, 'rotate'), `webhooks endpoints rotate ${name}`),
    ...when(has(acts, 'update'), `webhooks endpoints update ${name} --events ${quoted(patterns)}`),
    ...when(isDisabled, `webhooks endpoints disable ${name}`),
  ];
}

function recurringCommands(acts: Acts, name: string): string[] {
  if (has(acts, 'cancel')) return [`recurring-charges cancel ${name} --yes`];
  return when(lastOf(acts, ['pause', 'resume']) === 'pause', `recurring-charges pause ${name}`);
}

/** The settings of a tenant that are numbers, with the option that sets them. */
const LIMITS = {
  rate_per_minute: '--rate-per-minute',
  max_amount_minor: '--max-amount-minor',
  daily_limit_minor: '--daily-limit-minor',
} as const;

function tenantCommands(acts: Acts, name: string): string[] {
  const { before, after } = ends(acts);
  const { min_amount_minor: least } = after;
  const options = [
    // The least amount comes first: it must not be above the highest one.
    ...when(
      typeof least === 'number' && least !== before['min_amount_minor'],
      `--min-amount-minor ${JSON.stringify(least)}`,
    ),
    ...Object.entries(LIMITS).flatMap(([field, option]) =>
      when(isLower(before[field], after[field]), `${option} ${JSON.stringify(after[field])}`),
    ),
    ...Object.entries(after).flatMap(([feature, value]) =>
      when(value === false && before[feature] === true, `--feature ${feature}=off`),
    ),
    ...safeguardsOf(after).flatMap(([safeguard, value]) =>
      when(
        isLower(Object.fromEntries(safeguardsOf(before))[safeguard], value),
        `--safeguard ${safeguard}=${JSON.stringify(value)}`,
      ),
    ),
  ];
  return [
    ...when(
      !before['frozen_at'] && Boolean(after['frozen_at']),
      `tenants freeze ${name} ${REASON}`,
    ),
    // Each by itself: an update with one setting that is refused changes none of them.
    ...options.map((option) => `tenants update ${name} ${option}`),
  ];
}

const isLower = (before: unknown, after: unknown): boolean =>
  typeof before === 'number' && typeof after === 'number' && after < before;

const safeguardsOf = ({ safeguards }: NonNullable<AuditedState>): [string, unknown][] =>
  typeof safeguards === 'object' && safeguards !== null ? Object.entries(safeguards) : [];

/** A word as a shell takes it. */
const quoted = (text: string): string =>
  /^[\w.:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
