import type { Db } from 'mongodb';
import { z } from 'zod';
import { sealedCollections } from '../../composition/migrations.js';
import type { Act } from '../../core/audit/entry.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import {
  listSealingKeys,
  retireSealingKey,
  type KeyUse,
} from '../../platform/sealing/key-register.js';
import { earlierFormsOf, reseal } from '../../platform/sealing/reseal.js';
import { pepperUses } from '../../platform/api-keys/pepper-register.js';
import { listSecretUses, type ProviderSecretUse } from '../../core/providers/secret-uses.js';
import { openEarlierSecrets } from '../../core/webhooks/secrets.js';
import type { KeyPepper } from '../../shared/key-peppers.js';
import type { OperatorDeps } from './deps.js';
import { ADMINS, READERS } from './roles.js';
import { printed, printedList, reason } from './schema.js';
import { actOf } from './sign-in.js';

/** One request seals for this time. The command line sends the next one. */
const STEP_MS = 2_000;

const tag = 'Secrets';
const position = z.strictObject({ collection: plainText(100), after: plainText(1_000).nullable() });

/** Lists the secrets that the service rotates, with the records that need them. */
export const listSecrets = operation({
  id: 'listSecrets',
  tag,
  method: 'get',
  path: '/secrets',
  summary: 'List sealing keys, key peppers and providers’ secrets, and what needs each',
  roles: READERS,
  answer: { status: 200, data: printedList },
});

/** Seals records again under the first key, from a position on. */
export const rotateSecrets = operation({
  id: 'rotateSecrets',
  tag,
  method: 'post',
  path: '/secrets/rotate',
  summary: 'Seal records again under the first key',
  description:
    'It re-seals fields, and the webhook secrets of an earlier release, which need a key pepper. One request works for about two seconds. Send `next` of the answer as `from` until it is null. The last request retires the keys that no record needs any more.',
  roles: ADMINS,
  body: z.strictObject({ from: position.optional(), reason: reason.optional() }),
  answer: { status: 200, data: printed },
});

/** The routes for the keys that seal. */
export const secretRoutes = ({
  reports,
  database,
  sealing,
  audit,
  config,
}: OperatorDeps): Route[] => {
  const openEarlier = openEarlierSecrets(config.keyPeppers);
  // Without the wrapper, which would open what is to be sealed again.
  const raw = () => reports.client.db(database.db.databaseName);

  /** Retires the keys that no record needs and under which no process seals, each with its entry in the audit log. */
  async function retireUnused(actOn: (id: string) => Act): Promise<string[]> {
    const retired: string[] = [];
    for (const { id, seals, retiredAt, records } of await listSealingKeys(
      raw(),
      sealedCollections,
    )) {
      const isNeeded = id === sealing.currentKeyId || seals || Object.keys(records).length > 0;
      if (retiredAt !== null || isNeeded) continue;
      const isRetired = await audit.act(actOn(id), async (session) =>
        (await retireSealingKey(database.db, id, session))
          ? { result: true, before: null, after: { retired: true } }
          : null,
      );
      if (isRetired) retired.push(id);
    }
    return retired;
  }

  return [
    route(listSecrets, async (ctx) => {
      const keys = await listSealingKeys(raw(), sealedCollections);
      sendData(ctx, 200, [
        ...keys.map((key) => presentSealingKey(key, sealing.currentKeyId)),
        ...(await listPeppers(raw(), config.keyPeppers)),
        ...(await listSecretUses(raw(), sealing, config)).map(presentProviderSecret),
      ]);
    }),

    route(rotateSecrets, async (ctx, { body }) => {
      const { from = null, reason: why = null } = body;
      const act = (kind: string, target: string) => actOf(ctx, kind, target, { reason: why });
      if (from === null) await audit.record(act('secrets.rotate', sealing.currentKeyId));
      const given = { from, forMs: STEP_MS, openEarlier };
      const { resealed, unopened, next } = await reseal(raw(), sealing, sealedCollections, given);
      const retired = next === null ? await retireUnused((id) => act('secrets.retire', id)) : [];
      sendData(ctx, 200, { resealed, unopened, next, retired });
    }),
  ];
};

/** One row of the list. Each kind of secret leaves the columns of the others empty. */
const row = (
  secret: string,
  { id, isFirst, records = {} }: { id: string; isFirst: boolean; records?: Record<string, number> },
  more: { seals?: boolean; last_verified_at?: string | null; retired_at?: string | null } = {},
) => ({
  secret,
  id,
  is_first: isFirst,
  seals: more.seals ?? null,
  records: Object.values(records).reduce((sum, count) => sum + count, 0),
  collections: Object.keys(records).join(' '),
  last_verified_at: more.last_verified_at ?? null,
  retired_at: more.retired_at ?? null,
});

const presentSealingKey = ({ id, seals, retiredAt, records }: KeyUse, currentKeyId: string) =>
  row(
    'BURSAR_SEALING_KEYS',
    { id, isFirst: id === currentKeyId, records },
    { seals, retired_at: retiredAt?.toISOString() ?? null },
  );

/** The peppers of this process, and those that keys in use need although they are not in its list. */
async function listPeppers(db: Db, peppers: readonly KeyPepper[]) {
  const [uses, earlier] = await Promise.all([
    pepperUses(db),
    earlierFormsOf(db, sealedCollections),
  ]);
  const ids = [...new Set([...peppers.map(({ id }) => id), ...uses.keys()])];
  const isFirst = (id: string) => id === peppers[0]?.id;
  return ids.map((id) => {
    // Nothing tells which pepper a value of an earlier release is sealed under.
    const records = { ...uses.get(id), ...(!isFirst(id) && earlier) };
    return row('BURSAR_KEY_PEPPER', { id, isFirst: isFirst(id), records });
  });
}

const presentProviderSecret = ({ setting, position, lastVerifiedAt }: ProviderSecretUse) =>
  row(
    setting,
    { id: `number ${position}`, isFirst: position === 1 },
    { last_verified_at: lastVerifiedAt?.toISOString() ?? null },
  );
