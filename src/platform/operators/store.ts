import type { ClientSession, Collection, Db } from 'mongodb';
import { ApiError, type ErrorCode } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { generateOperatorKey, parseOperatorKey, type Environment } from '../api-keys/api-key.js';
import { createKeyHashes, type KeyHashes } from '../api-keys/key-hashes.js';
import type { KeyPepper } from '../../shared/key-peppers.js';
import { isDuplicate } from '../database/duplicate.js';
import type { OperatorDocument, OperatorKeyDocument } from './document.js';
import type { Operator, OperatorRole } from './operator.js';

/** The properties of an operator that is to be created. */
export type NewOperator = {
  name: string;
  email: string;
  roles: OperatorRole[];
  /** The operators who stand behind it; see `lineOf`. */
  createdBy: readonly string[];
  identity?: OperatorDocument['identity'];
};

/** An operator's account, as operators see it. */
export type OperatorAccount = NewOperator & {
  id: string;
  disabledAt: Date | null;
  createdAt: Date;
};

/** A new key of an operator: the only place where it is readable. */
export type NewOperatorKey = { id: string; key: string; expiresAt: Date | null };

/** The operators of a deployment. */
export type Operators = ReturnType<typeof createOperators>;

/** Creates the store of operators and their keys. Nothing is cached: a revoked key or a disabled account ends at once. */
export function createOperators({
  db,
  peppers,
  environment,
}: {
  db: Db;
  peppers: readonly KeyPepper[];
  environment: Environment;
}) {
  const operators = db.collection<OperatorDocument>('operators');
  const keys = db.collection<OperatorKeyDocument>('operator_keys');
  const hashes = createKeyHashes(peppers);

  return {
    ...operatorAccounts({ operators }),
    ...operatorKeys({ keys, hashes, environment }),

    /** Everybody who had a hand in making this account, or any key of it. */
    async makersOf(id: string): Promise<string[]> {
      const lines = await Promise.all([
        operators.distinct('created_by', { _id: id }),
        keys.distinct('created_by', { operator_id: id }),
      ]);
      return lines.flat().filter((each) => each !== undefined);
    },

    /**
     * Identifies an operator by a key. Throws `invalid_key` (malformed), `wrong_environment`, `unauthorized` (unknown, or
     * the account is disabled), `expired_key` (also revoked).
     */
    async authenticate(token: string, onRefused: OnRefused = async () => {}): Promise<Operator> {
      const parsed = parseOperatorKey(token);
      if (parsed === null) throw new ApiError('invalid_key');
      if (parsed.environment !== environment) throw new ApiError('wrong_environment');
      if (!parsed.intact) throw new ApiError('invalid_key');
      const now = new Date();
      const key = await keys.findOne({ hash: { $in: hashes.all(token) } });
      if (key === null) throw new ApiError('unauthorized');
      const account = await operators.findOne({ _id: key.operator_id });
      const refusal = refusalOf(key, account, now);
      if (account === null) throw new ApiError('unauthorized');
      const found = { ...toOperator(account, key.created_by), keyId: key._id };
      if (refusal !== null) {
        await onRefused(found, refusal);
        throw new ApiError(refusal);
      }
      if (isStale(key.last_used_at, now) || !hashes.isCurrent(key)) {
        // Only a key in use shows its text, so its hash under the first pepper is written now.
        const used = { last_used_at: now, ...hashes.current(token) };
        await keys.updateOne({ _id: key._id }, { $set: used });
      }
      return found;
    },
  };
}

/** Takes the refused sign-in of a known operator, for the audit log. */
type OnRefused = (known: Operator, refusal: ErrorCode) => Promise<void>;

function refusalOf(
  key: OperatorKeyDocument,
  account: OperatorDocument | null,
  now: Date,
): ErrorCode | null {
  if (key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) {
    return 'expired_key';
  }
  return account === null || account.disabled_at !== null ? 'unauthorized' : null;
}

/** The last use is written at most once a minute. */
const isStale = (at: Date | null, now: Date) =>
  at === null || now.getTime() - at.getTime() > 60_000;

type Sources = {
  operators: Collection<OperatorDocument>;
  keys: Collection<OperatorKeyDocument>;
  hashes: KeyHashes;
  environment: Environment;
};

function operatorAccounts({ operators }: Pick<Sources, 'operators'>) {
  return {
    async create(input: NewOperator, session?: ClientSession): Promise<OperatorAccount> {
      const document: OperatorDocument = {
        _id: newId('operator'),
        name: input.name,
        email: input.email.toLowerCase(),
        roles: input.roles,
        disabled_at: null,
        created_at: new Date(),
        created_by: [...input.createdBy],
        ...(input.identity && { identity: input.identity }),
      };
      const taken = await operators.findOne({ email: document.email }, withSession(session));
      if (taken !== null) throw takenEmail();
      await operators.insertOne(document, withSession(session)).catch((error: unknown) => {
        throw isDuplicate(error) && !session ? takenEmail() : error;
      });
      return toAccount(document);
    },

    /** True as soon as anybody can sign in. */
    exist: async (session?: ClientSession): Promise<boolean> =>
      (await operators.findOne({}, withSession(session))) !== null,

    list: async (): Promise<OperatorAccount[]> =>
      (await operators.find().sort({ _id: 1 }).toArray()).map(toAccount),

    async get(id: string, session?: ClientSession): Promise<OperatorAccount | null> {
      const document = await operators.findOne({ _id: id }, withSession(session));
      return document && toAccount(document);
    },

    /** The account of a person at the issuer, or else the one with this e-mail that nobody signs in to by the issuer. */
    async ofIdentity(
      { issuer, subject, email }: { issuer: string; subject: string; email: string },
      session?: ClientSession,
    ): Promise<{ own: OperatorAccount | null; sameEmail: OperatorAccount | null }> {
      const identity = { 'identity.issuer': issuer, 'identity.subject': subject };
      const own = await operators.findOne(identity, withSession(session));
      const same = own ? null : await operators.findOne({ email }, withSession(session));
      return { own: own && toAccount(own), sameEmail: same && toAccount(same) };
    },

    /** Changes roles, or disables and enables an account, or gives it to a person at the issuer. Null if there is none. */
    async update(
      id: string,
      changes: Pick<OperatorDocument, 'identity'> & { roles?: OperatorRole[]; disabled?: boolean },
      session?: ClientSession,
    ): Promise<OperatorAccount | null> {
      const { roles, disabled, identity } = changes;
      const document = await operators.findOneAndUpdate(
        { _id: id },
        {
          $set: {
            ...(roles && { roles }),
            ...(identity && { identity }),
            ...(disabled !== undefined && { disabled_at: disabled ? new Date() : null }),
          },
        },
        { returnDocument: 'after', ...withSession(session) },
      );
      return document && toAccount(document);
    },
  };
}

function operatorKeys({ keys, hashes, environment }: Omit<Sources, 'operators'>) {
  return {
    /** Creates a key. `createdBy` are the operators who stand behind it; see `lineOf`. */
    async createKey(
      operatorId: string,
      { expiresAt, createdBy }: { expiresAt: Date | null; createdBy: readonly string[] },
      session?: ClientSession,
    ): Promise<NewOperatorKey> {
      const key = generateOperatorKey(environment);
      const document: OperatorKeyDocument = {
        _id: newId('apiKey'),
        ...hashes.current(key),
        operator_id: operatorId,
        created_at: new Date(),
        last_used_at: null,
        expires_at: expiresAt,
        revoked_at: null,
        created_by: [...createdBy],
      };
      await keys.insertOne(document, withSession(session));
      return { id: document._id, key, expiresAt };
    },

    listKeys: (operatorId: string): Promise<OperatorKeyDocument[]> =>
      keys
        .find({ operator_id: operatorId }, { projection: { hash: 0 } })
        .sort({ _id: 1 })
        .toArray(),

    /** Revokes a key at once. Null if there is none. */
    async revokeKey(id: string, session?: ClientSession): Promise<{ operatorId: string } | null> {
      const found = await keys.findOne({ _id: id }, withSession(session));
      if (found === null) return null;
      const open = { _id: id, revoked_at: null };
      await keys.updateOne(open, { $set: { revoked_at: new Date() } }, withSession(session));
      return { operatorId: found.operator_id };
    },
  };
}

const withSession = (session: ClientSession | undefined) => (session ? { session } : {});

const takenEmail = () =>
  new ApiError('invalid_state', {
    field: 'email',
    message: 'There is an operator with this e-mail.',
  });

const toOperator = (account: OperatorDocument, ofSignIn: readonly string[] = []) => ({
  id: account._id,
  name: account.name,
  roles: account.roles,
  madeBy: [...new Set([...(account.created_by ?? []), ...ofSignIn])],
});

const toAccount = (document: OperatorDocument): OperatorAccount => ({
  id: document._id,
  name: document.name,
  email: document.email,
  roles: document.roles,
  disabledAt: document.disabled_at,
  createdAt: document.created_at,
  createdBy: document.created_by ?? [],
  ...(document.identity && { identity: document.identity }),
});
