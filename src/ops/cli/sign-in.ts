import type { Command } from 'commander';
import { readOidcSettings, type OidcSettings } from '../../shared/oidc-settings.js';
import { whoAmI } from '../operator-api/operators.js';
import { addPlainCommand, CommandError } from './command.js';
import { askIssuer, currentIdToken, toSignIn } from './id-token.js';
import { clientWith, findOperatorUrl } from './operator-client.js';
import { print } from './print.js';
import { readSignIn, removeSignIn, signInPath, writeSignIn } from './sign-in-file.js';

/** Adds `sign-in`. */
export function addSignInCommand(program: Command): void {
  addPlainCommand<{ token?: boolean }>(
    program,
    'sign-in',
    (command) =>
      command
        .description(
          'sign in at the issuer (OIDC_ISSUER, OIDC_CLIENT_ID) with a browser, on this device or another one',
        )
        .option('--token', 'print the ID token of the present sign-in, for the console'),
    async ({ json, options: { token = false } }) => {
      if (token) return printToken(json);
      const settings = issuerOf(process.env);
      const url = findOperatorUrl(process.env);
      const response = await askPerson(settings);
      const kept = toSignIn(settings, url, response);
      // Kept only if the operator API accepts it.
      const me = await clientWith(url, async () => kept.id_token).call(whoAmI, {});
      const path = signInPath(process.env);
      writeSignIn(path, kept);
      print(json, { ...me, file: path });
    },
  );
}

/** Prints the ID token, which is as good as a key until it ends. */
async function printToken(json: boolean): Promise<void> {
  const token = await currentIdToken(findOperatorUrl(process.env), process.env);
  if (token === null) throw new CommandError('nobody has signed in: run bursar sign-in');
  print(json, { id_token: token });
}

/** Adds `sign-out`. */
export function addSignOutCommand(program: Command): void {
  addPlainCommand(
    program,
    'sign-out',
    (command) => command.description('end the sign-in at the issuer, and delete its file'),
    async ({ json }) => {
      const path = signInPath(process.env);
      const kept = readSignIn(path);
      removeSignIn(path);
      if (kept === null) throw new CommandError('nobody has signed in');
      const { issuer, client_id: clientId, refresh_token: refreshToken } = kept;
      const configuration = await askIssuer({ issuer, clientId });
      const { revocation_endpoint: revokes } = configuration.serverMetadata();
      const isRevoked = refreshToken !== null && revokes !== undefined;
      if (isRevoked) {
        const { tokenRevocation } = await import('openid-client');
        await tokenRevocation(configuration, refreshToken);
      }
      print(json, { signed_out: true, ended_at_the_issuer: isRevoked });
    },
  );
}

/** Shows the address and the code of the device flow, and waits for the person. */
async function askPerson(settings: OidcSettings) {
  const configuration = await askIssuer(settings);
  const client = await import('openid-client');
  const device = await client
    .initiateDeviceAuthorization(configuration, { scope: settings.scopes })
    .catch(() => {
      throw new CommandError(
        `the issuer ${settings.issuer} refuses the device flow of this client`,
      );
    });
  const {
    verification_uri_complete: complete,
    verification_uri: address,
    user_code: code,
  } = device;
  // On stderr, so that the output of --json stays JSON.
  console.error(`Open ${complete ?? address} and confirm the code ${code}.`);
  return client.pollDeviceAuthorizationGrant(configuration, device).catch((error: unknown) => {
    const isRefused = error instanceof client.ResponseBodyError && error.error === 'access_denied';
    throw new CommandError(
      isRefused ? 'the sign-in was refused' : 'the sign-in was not confirmed in time',
    );
  });
}

function issuerOf(env: NodeJS.ProcessEnv): OidcSettings {
  const settings = readOidcSettings(env);
  if (settings) return settings;
  throw new CommandError(
    'there is no issuer to sign in at: set OIDC_ISSUER and OIDC_CLIENT_ID, or use an operator key (BURSAR_OPERATOR_KEY)',
  );
}
