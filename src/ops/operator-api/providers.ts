import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import type { ProviderFault } from '../../core/providers/faults.js';
import type { ProviderHealth } from '../../core/providers/health.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { noSuch, printed, printedList, reasonBody } from './schema.js';
import { actOf } from './sign-in.js';

const tag = 'Providers';
const params = { provider: plainText(100) };

/** Lists the providers. */
export const listProviders = operation({
  id: 'listProviders',
  tag,
  method: 'get',
  path: '/providers',
  summary: 'List providers with their health and faults',
  roles: READERS,
  answer: { status: 200, data: printedList },
});

/** Shows a provider. */
export const getProvider = operation({
  id: 'getProvider',
  tag,
  method: 'get',
  path: '/providers/{provider}',
  summary: 'Show a provider with its faults, also those that have ended',
  roles: READERS,
  params,
  answer: { status: 200, data: printed },
});

/** Ends the faults of a provider. */
export const resumeProvider = operation({
  id: 'resumeProvider',
  tag,
  method: 'post',
  path: '/providers/{provider}/resume',
  summary: 'End the faults of a provider, so that first submissions to it go on',
  roles: WORKERS,
  params,
  body: reasonBody,
  answer: {
    status: 200,
    data: z.object({ provider: z.string(), ended: z.array(z.string()) }),
  },
});

/** The routes for the providers: their health, their faults, and words that no adapter knows. */
export const providerRoutes = (deps: OperatorDeps): Route[] => [
  route(listProviders, async (ctx) => {
    const { healths, faults } = await read(deps);
    sendData(
      ctx,
      200,
      namesOf(deps).map((name) => rowOf(name, healths.get(name), faults)),
    );
  }),

  route(getProvider, async (ctx, { params: { provider: name } }) => {
    if (!namesOf(deps).includes(name)) throw noSuch('provider');
    const { healths, faults } = await read(deps, { ended: true });
    sendData(ctx, 200, {
      ...rowOf(name, healths.get(name), faults),
      card_decisions: decisionsOf(deps, name),
      history: faults.filter(({ provider }) => provider === name).map(presentFault),
    });
  }),

  route(resumeProvider, async (ctx, { params: { provider: name }, body }) => {
    const act = actOf(ctx, 'providers.resume', name, { reason: body.reason ?? null });
    const ended = await deps.audit.act(act, async (session) => {
      const faults = await deps.providerFaults.endAll(name, session);
      return faults.length === 0
        ? null
        : { result: faults, before: { faults }, after: { faults: [] } };
    });
    if (!ended) throw new ApiError('invalid_state', { message: `No fault of ${name} lasts.` });
    deps.providerFaults.expire();
    sendData(ctx, 200, { provider: name, ended });
  }),
];

async function read(deps: OperatorDeps, ended: { ended?: boolean } = {}) {
  const [healths, faults] = await Promise.all([
    deps.providerHealth.list(),
    deps.providerFaults.list(ended),
  ]);
  return { healths: new Map(healths.map((health) => [health._id, health])), faults };
}

const namesOf = ({ providers }: OperatorDeps): string[] => [
  ...new Set(
    [...providers.all, ...providers.issuers, ...providers.payments].map(({ name }) => name),
  ),
];

function rowOf(name: string, health: ProviderHealth | undefined, faults: readonly ProviderFault[]) {
  const lasting = faults.filter((each) => each.provider === name && each.ended_at === null);
  return {
    provider: name,
    up: health?.checked_at ? health.up : null,
    reason: health?.reason ?? null,
    float_minor: health?.float_minor == null ? null : Number(health.float_minor),
    currency: health?.currency ?? null,
    checked_at: health?.checked_at?.toISOString() ?? null,
    faults: lasting
      .map((fault) => (fault.kind === 'word' ? `word ${fault.name}` : fault.name))
      .join(', '),
  };
}

/** The acts of an issuer where a decision about a payment does not reach it in time; null if the provider issues no cards. */
function decisionsOf({ providers }: OperatorDeps, name: string) {
  const decision = providers.findIssuer(name)?.cards.decision;
  return decision
    ? {
        deadline_ms: decision.deadlineMs,
        without_answer: decision.onSilence,
        asks_again: decision.asksAgain,
      }
    : null;
}

const presentFault = ({
  kind,
  name,
  since,
  last_seen_at,
  ended_at,
  needed_minor,
}: ProviderFault) => ({
  kind,
  name,
  since: since.toISOString(),
  last_seen_at: last_seen_at.toISOString(),
  ended_at: ended_at?.toISOString() ?? null,
  needed_minor: needed_minor == null ? null : Number(needed_minor),
});
