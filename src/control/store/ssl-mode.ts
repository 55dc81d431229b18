/** `sslmode` of the database's address: encrypting modes but `no-verify` become the driver's `verify-full`. */

const SAME_AS_VERIFY_FULL: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca']);

/** An address may ask for libpq's meaning of the modes. */
export function plainSslMode(connectionString: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(connectionString)) return connectionString;
  return connectionString.replace(/([?&]sslmode=)([a-z-]+)/g, (whole, name: string, mode: string) =>
    SAME_AS_VERIFY_FULL.has(mode) ? `${name}verify-full` : whole,
  );
}
