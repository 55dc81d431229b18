/**
 * `sslmode` in the address of the database. All modes that encrypt mean `verify-full` here, but for `no-verify`; said
 * in the driver's own word, so that it does not warn of it on every line of the log. Pure.
 */

const SAME_AS_VERIFY_FULL: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca']);

/** Whoever asks for the meaning that libpq gives to the modes has it. */
export function plainSslMode(connectionString: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(connectionString)) return connectionString;
  return connectionString.replace(/([?&]sslmode=)([a-z-]+)/g, (whole, name: string, mode: string) =>
    SAME_AS_VERIFY_FULL.has(mode) ? `${name}verify-full` : whole,
  );
}
