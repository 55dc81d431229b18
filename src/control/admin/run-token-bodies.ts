/** The bodies of run tokens: what may be said of a run in a token, within bounds that every proxy process can hold. */
import { z } from '@hono/zod-openapi';
import { isWellFormedKey } from '../../keys/gateway-key.ts';
import { PROVIDER_NAMES } from '../../providers/registry.ts';
import { Time } from './schemas.ts';

const MAX_TRACE_ID_CHARS = 256;
const MAX_SPAN_PATH_CHARS = 1_024;
const MAX_METADATA_ENTRIES = 32;
const MAX_METADATA_BYTES = 4 * 1024;
const MIN_TTL_SECONDS = 10;
const DEFAULT_TTL_SECONDS = 86_400;
/** 30 days. */
export const MAX_TTL_SECONDS = 2_592_000;
/** These headers say something else. */
const RESERVED_NAMES: readonly string[] = [
  'key',
  'provider',
  'provider-alias',
  'client',
  'trace-id',
  'span-path',
  'span-name',
];

const Text = z.string().regex(/^\P{Cc}*$/u, 'without control characters');

const RunMetadata = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'names as in X-Gateway-NAME: letters, digits, "-", "_" and "."')
      .refine((name) => !RESERVED_NAMES.includes(name.toLowerCase()), 'this name is a header of its own'),
    Text.max(1_000),
  )
  .refine((all) => Object.keys(all).length <= MAX_METADATA_ENTRIES, `at most ${MAX_METADATA_ENTRIES} entries`)
  .refine(
    (all) => Buffer.byteLength(Object.entries(all).flat().join('')) <= MAX_METADATA_BYTES,
    `at most ${MAX_METADATA_BYTES} bytes in all`,
  )
  .refine(
    (all) => new Set(Object.keys(all).map((name) => name.toLowerCase())).size === Object.keys(all).length,
    'each name once, in any case',
  );

export const NewRunTokenBody = z
  .strictObject({
    key_id: z.number().int().min(1).max(2_147_483_647).optional().describe('The key that its calls count for'),
    key: z
      .string()
      .refine(isWellFormedKey, 'this is no gateway key')
      .optional()
      .describe('The same, by the key itself. With neither: the only valid key'),
    name: Text.trim().min(1).max(200).optional().describe('For people'),
    trace_id: Text.min(1).max(MAX_TRACE_ID_CHARS).nullable().optional().describe('The run of its calls'),
    span_path: Text.min(1).max(MAX_SPAN_PATH_CHARS).nullable().optional().describe('Their step in the run'),
    provider: z.enum(PROVIDER_NAMES).nullable().optional().describe('Their provider; default: as each call says'),
    provider_alias: z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/, 'printable ASCII')
      .nullable()
      .optional()
      .describe('Their provider alias'),
    metadata: RunMetadata.optional().describe('Their metadata, by name as in `X-Gateway-NAME`'),
    ttl_seconds: z
      .number()
      .int()
      .min(MIN_TTL_SECONDS)
      .max(MAX_TTL_SECONDS)
      .default(DEFAULT_TTL_SECONDS)
      .describe('After how long it ends by itself'),
  })
  .refine(({ key_id, key }) => key_id === undefined || key === undefined, 'give key_id or key, not both')
  .openapi('NewRunToken');

export const RenewedRunTokenBody = z
  .strictObject({
    ttl_seconds: z.number().int().min(MIN_TTL_SECONDS).max(MAX_TTL_SECONDS).describe('How long from now it is valid'),
  })
  .openapi('RenewedRunToken');

export const RunTokenBody = z
  .object({
    id: z.number().int(),
    name: z.string().nullable(),
    key_id: z.number().int(),
    trace_id: z.string().nullable(),
    span_path: z.string().nullable(),
    provider: z.string().nullable(),
    provider_alias: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: Time,
    expires_at: Time,
    ended_at: Time.nullable().describe('When it was ended, or its time was over; null while it is valid'),
  })
  .openapi('RunToken');

export type RunToken = z.infer<typeof RunTokenBody>;
