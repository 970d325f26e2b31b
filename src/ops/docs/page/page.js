/* global Scalar */

// Before the viewer is there: it validates with zod, which else tries to compile code, and the page's policy forbids it.
globalThis.__zod_globalConfig = { jitless: true };

// Everything comes from this host: no fonts, no telemetry, no proxy, nothing of the viewer's own services. The key that a
// reader pastes is kept in memory alone.
document.addEventListener('DOMContentLoaded', () => {
  Scalar.createApiReference('#docs', {
    url: '/docs/reference.json',
    authentication: { preferredSecurityScheme: 'secretKey' },
    persistAuth: false,
    // Against the live service a click would move money.
    hideTestRequestButton: document.documentElement.dataset.environment === 'live',
    // Also the guide: pages of it that are not open show their beginning only.
    defaultOpenAllTags: true,
    operationTitleSource: 'summary',
    hideModels: true,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
  });
});
