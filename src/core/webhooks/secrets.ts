import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

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
 * Creates the box that seals secrets, which signing needs in clear, under a key that is not in the database. A sealed
 * secret opens only for the endpoint that it was sealed for.
 */
export function createSecretBox(pepper: string) {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'bursar webhook secrets', 32));
  return {
    seal(secret: string, endpoint: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(endpoint));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },
    /** Null for what was not sealed by this key, or not for this endpoint. */
    open(sealed: string, endpoint: string): string | null {
      const bytes = Buffer.from(sealed, 'base64');
      const [iv, rest] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(endpoint))
          .setAuthTag(rest.subarray(0, TAG_BYTES));
        return (
          decipher.update(rest.subarray(TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
        );
      } catch {
        return null;
      }
    },
  };
}
