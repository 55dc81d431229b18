/** Settings that are secrets. Each may stand in a file of its own (`NAME_FILE`), and none is in a child's environment. */
export const SECRET_SETTINGS: readonly string[] = [
  'DATABASE_URL',
  'TOLLGATE_ADMIN_TOKEN',
  'TOLLGATE_METRICS_TOKEN',
  'TOLLGATE_CREDENTIALS_KEY',
  'TOLLGATE_OIDC_CLIENT_SECRET',
  'TOLLGATE_SMTP_URL',
];
