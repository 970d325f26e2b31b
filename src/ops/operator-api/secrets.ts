import { z } from 'zod';
import { sealedCollections } from '../../composition/migrations.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import {
  listSealingKeys,
  retireSealingKey,
  type KeyUse,
} from '../../platform/sealing/key-register.js';
import { reseal } from '../../platform/sealing/reseal.js';
import type { OperatorDeps } from './deps.js';
import { ADMINS, READERS } from './roles.js';
import { printed, printedList, reason } from './schema.js';
import { actOf } from './sign-in.js';

/** One request seals for this time. The command line sends the next one. */
const STEP_MS = 2_000;

const tag = 'Secrets';
const position = z.strictObject({ collection: plainText(100), after: plainText(1_000).nullable() });

/** Lists the keys that seal, with the records that need them. */
export const listSecrets = operation({
  id: 'listSecrets',
  tag,
  method: 'get',
  path: '/secrets',
  summary: 'List the sealing keys, and the number of records that need each',
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
    'One request works for about two seconds. Send `next` of the answer as `from` until it is null. The last request retires the keys that no record needs any more.',
  roles: ADMINS,
  body: z.strictObject({ from: position.optional(), reason: reason.optional() }),
  answer: { status: 200, data: printed },
});

/** The routes for the keys that seal. */
export const secretRoutes = ({ reports, database, sealing, audit }: OperatorDeps): Route[] => {
  // Without the wrapper, which would open what is to be sealed again.
  const raw = () => reports.client.db(database.db.databaseName);

  /** Retires the keys that no record needs and under which no process seals. */
  async function retireUnused(): Promise<string[]> {
    const retired: string[] = [];
    for (const { id, seals, retiredAt, records } of await listSealingKeys(
      raw(),
      sealedCollections,
    )) {
      const isNeeded = id === sealing.currentKeyId || seals || Object.keys(records).length > 0;
      if (retiredAt !== null || isNeeded) continue;
      if (await retireSealingKey(raw(), id)) retired.push(id);
    }
    return retired;
  }

  return [
    route(listSecrets, async (ctx) => {
      const keys = await listSealingKeys(raw(), sealedCollections);
      sendData(
        ctx,
        200,
        keys.map((key) => present(key, sealing.currentKeyId)),
      );
    }),

    route(rotateSecrets, async (ctx, { body }) => {
      const { from = null, reason: why = null } = body;
      const act = (kind: string, target: string) => actOf(ctx, kind, target, { reason: why });
      if (from === null) await audit.record(act('secrets.rotate', sealing.currentKeyId));
      const given = { from, forMs: STEP_MS };
      const { resealed, unopened, next } = await reseal(raw(), sealing, sealedCollections, given);
      const retired = next === null ? await retireUnused() : [];
      for (const id of retired) await audit.record(act('secrets.retire', id));
      sendData(ctx, 200, { resealed, unopened, next, retired });
    }),
  ];
};

const present = ({ id, seals, retiredAt, records }: KeyUse, currentKeyId: string) => ({
  id,
  is_first: id === currentKeyId,
  seals,
  records: Object.values(records).reduce((sum, count) => sum + count, 0),
  collections: Object.keys(records).join(' '),
  retired_at: retiredAt?.toISOString() ?? null,
});
