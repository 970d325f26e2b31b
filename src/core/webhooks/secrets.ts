import { createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyPepper } from '../../shared/key-peppers.js';
import type { Sealing } from '../../platform/sealing/sealing.js';

const PREFIX = 'whsec_';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A new signing secret in the form that Standard Webhooks libraries take. */
export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64');

/**
 * Signs as Standard Webhooks has it: one signature for each secret, so that a receiver may know the old one or the
 * new one while they are exchanged.
 */
export function signatures(
  secrets: readonly string[],
  message: { id: string; timestamp: number; body: string },
): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ');
}

/** Seals and opens secrets. */
export type SecretBox = ReturnType<typeof createSecretBox>;

/**
 * Creates the box that seals secrets, which signing needs in clear. A sealed secret opens only for the endpoint that it was
 * sealed for. Earlier releases sealed secrets under a key of the pepper: those open until they are rotated.
 */
export function createSecretBox(
  sealing: Pick<Sealing, 'seal' | 'open' | 'keyIdOf'>,
  peppers: readonly KeyPepper[],
) {
  const placeOf = (endpoint: string) => ({ record: endpoint, field: 'secret' });
  const openEarlier = openEarlierSecrets(peppers);
  return {
    seal: (secret: string, endpoint: string): string => sealing.seal(secret, placeOf(endpoint)),
    /** Null for what was not sealed by a key of ours, or not for this endpoint. */
    open: (sealed: string, endpoint: string): string | null =>
      sealing.keyIdOf(sealed) === null
        ? openEarlier(sealed, endpoint)
        : sealing.open(sealed, placeOf(endpoint)),
  };
}

/** Opens what an earlier release has sealed under one of the peppers. Null for anything else. */
export function openEarlierSecrets(peppers: readonly KeyPepper[]) {
  const boxes = peppers.map(createEarlierBox);
  return (sealed: string, record: string): string | null => {
    for (const open of boxes) {
      const opened = open(sealed, record);
      if (opened !== null) return opened;
    }
    return null;
  };
}

function createEarlierBox({ secret }: KeyPepper) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'bursar webhook secrets', 32));
  return (sealed: string, endpoint: string): string | null => {
    const bytes = Buffer.from(sealed, 'base64');
    const [iv, rest] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(endpoint))
        .setAuthTag(rest.subarray(0, TAG_BYTES));
      return decipher.update(rest.subarray(TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return null;
    }
  };
}
