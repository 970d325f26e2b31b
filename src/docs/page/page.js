/* global Scalar */
// Everything comes from this host: no fonts, no telemetry, no proxy, nothing of the viewer's own services. The key that a
// reader pastes is kept in memory alone.
Scalar.createApiReference('#docs', {
  url: '/docs/reference.json',
  authentication: { preferredSecurityScheme: 'secretKey' },
  persistAuth: false,
  // Against the live service a click would move money.
  hideTestRequestButton: document.documentElement.dataset.environment === 'live',
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
