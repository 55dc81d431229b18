/** Gateway keys as the API has them: their settings, and what is said of them. */
import { z } from '@hono/zod-openapi';
import { PROVIDER_NAMES } from '../../providers/registry.ts';
import { readNetwork } from '../../sockets/read-network.ts';
import type { LimitUse } from '../../vocabulary/limit.ts';
import { keySubject } from '../../vocabulary/limit-subjects.ts';
import { isRunSource, KEYED_RUN_SOURCES, MAX_RUN_SOURCES, PLAIN_RUN_SOURCES } from '../../vocabulary/run-sources.ts';
import { type KeyUsage, NO_USAGE } from '../log/key-usage.ts';
import type { KeyEdit, StoredKey } from '../store/key-row.ts';
import { formatLimit, LimitFields, readUse, UseBody } from './limit-fields.ts';
import { Money, Time } from './schemas.ts';

/** 90 days. */
const MAX_OVERLAP_SECONDS = 7_776_000;
/** Every proxy process holds them, and compares each call with them. */
const MAX_ALLOWED = 100;
const NO_CONTROLS = /^\P{Cc}*$/u;

const Policy = {
  usage: z.enum(['ask', 'observe']).nullable().describe('Override of the setting `usage`; null as the deployment'),
  bodies: z.enum(['full', 'off']).nullable().describe('Override of the setting `bodies`; null as the deployment'),
} as const;

const AllowInAddress = z
  .boolean()
  .describe(
    'Whether the key may stand in a client’s base address, as `http://gateway/@KEY/v1`; it may get into shell histories and the logs of what is in front of the gateway then',
  );

const RunsFrom = z
  .array(
    z
      .string()
      .refine(
        isRunSource,
        `a source is one of ${PLAIN_RUN_SOURCES.join(', ')}, or ${KEYED_RUN_SOURCES.map((name) => `${name}.KEY`).join(', ')}`,
      ),
  )
  .max(MAX_RUN_SOURCES)
  .describe(
    'Where the run of a call comes from when it has no X-Gateway-Trace-Id: the first of these that the call has. `agents`: the session that a known client names; `tool_calls`: the first tool call of the conversation, read from the kept bodies; empty: from nowhere, the call is in no run',
  );

const KeyName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(NO_CONTROLS, 'without control characters')
  .describe('Whom it is for');

const Owner = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(NO_CONTROLS, 'without control characters')
  .nullable()
  .describe('Who answers for it: a person, a team; null where nobody is named');

function listOfAllowed<T extends z.ZodType>(item: T, about: string) {
  return z.array(item).min(1).max(MAX_ALLOWED).nullable().describe(`${about}; null for all`);
}

const Pattern = z
  .string()
  .max(200)
  .regex(/^[\w.:/@*+-]+$/, 'a name, with * for any characters');

const Allowed = {
  allowed_providers: listOfAllowed(z.enum(PROVIDER_NAMES), 'Providers that its calls may go to'),
  allowed_models: listOfAllowed(
    Pattern,
    'Models that its calls may use, as clients name them, `*` for any characters; calls that may cost and whose model cannot be read are refused then',
  ),
  allowed_aliases: listOfAllowed(
    z
      .string()
      .max(200)
      .regex(/^(?:-|[\w.-]+)$/, 'the name of an alias, or - for the provider’s own upstream')
      .transform((alias) => alias.toLowerCase()),
    'Configured aliases that its calls may use, `-` for a provider’s own upstream',
  ),
  allowed_endpoints: listOfAllowed(
    Pattern,
    'Endpoints that its calls may use, by the name that the log has (`chat.completions`), `*` for any characters',
  ),
  allowed_networks: listOfAllowed(
    z
      .string()
      .max(100)
      .refine((text) => readNetwork(text) !== null, 'an address (10.0.0.7) or a range (10.0.0.0/8, fd00::/8)')
      .transform((text) => readNetwork(text) ?? text),
    'Networks that its calls may come from, as address or range',
  ),
} as const;

const Settings = {
  owner: Owner,
  ...Policy,
  allow_in_address: AllowInAddress,
  allow_run_budget: z.boolean().describe('Whether its calls may set the budget of their run with X-Gateway-Budget-Usd'),
  runs_from: RunsFrom,
  ...Allowed,
  ...LimitFields,
} as const;

/** What can be given of a key. */
const Given = z
  .strictObject({
    name: KeyName,
    ...Settings,
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .describe('When it stops being valid by itself; null for never'),
  })
  .partial();

export const NewKeyBody = Given.required({ name: true }).openapi('NewKey');
export const KeyEditBody = Given.openapi('KeyEdit');

export const KeyBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    prefix: z.string().describe('First characters of the key'),
    last4: z.string().describe('Last characters of the key'),
    created_at: Time,
    last_used_at: Time.nullable().describe('Latest call with it, about a minute late; null when never used'),
    revoked_at: Time.nullable(),
    expires_at: Time.nullable(),
    ...Settings,
    replaced_by: z.number().int().nullable().describe('The key that a rotation made instead of it'),
    replaced_at: Time.nullable().describe('When that was'),
  })
  .openapi('Key');

const UsageFields = {
  calls_24h: z.number().int().nullable().describe('Calls of the last 24 hours; null when the database took too long'),
  cost_24h: Money.nullable().describe('Of these, what is known'),
  unpriced_calls_24h: z.number().int().nullable().describe('Calls without a total: while there are any, "at least"'),
  calls_30d: z.number().int().nullable().describe('The same of the last 30 days'),
  cost_30d: Money.nullable(),
  unpriced_calls_30d: z.number().int().nullable(),
  calls_since_rotation: z
    .number()
    .int()
    .nullable()
    .describe('Calls with this key since another one took its place; null for a key that was not rotated'),
  limit_use: UseBody.nullable().describe(
    'In use of its limits on this node; null for a key without limits, and where that is not known',
  ),
} as const;

export const ListedKeyBody = KeyBody.extend(UsageFields).openapi('ListedKey');

export const RotationBody = z
  .strictObject({
    overlap_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(0)
      .describe('How long the old key goes on working; 0: it is revoked at once'),
  })
  .openapi('Rotation');

export const CreatedKeyBody = KeyBody.extend({
  key: z.string().describe('The key itself; it is never shown again'),
}).openapi('CreatedKey');

export type Key = z.infer<typeof KeyBody>;
export type ListedKey = z.infer<typeof ListedKeyBody>;
export type CreatedKey = z.infer<typeof CreatedKeyBody>;
export type GivenKey = z.infer<typeof Given>;

function toTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** What is not given stays undefined. */
export function readGiven(given: GivenKey): KeyEdit {
  const end = given.expires_at;
  return {
    name: given.name,
    owner: given.owner,
    expiresAtMs: end === undefined || end === null ? end : Date.parse(end),
    usage: given.usage,
    bodies: given.bodies,
    allowInAddress: given.allow_in_address,
    allowRunBudget: given.allow_run_budget,
    runsFrom: given.runs_from,
    allowedProviders: given.allowed_providers,
    allowedModels: given.allowed_models,
    allowedAliases: given.allowed_aliases,
    allowedEndpoints: given.allowed_endpoints,
    allowedNetworks: given.allowed_networks,
    maxConcurrent: given.max_concurrent,
    requestsPerMinute: given.requests_per_minute,
    tokensPerMinute: given.tokens_per_minute,
  };
}

export function formatKey(key: StoredKey): Key {
  const copy = <T>(list: readonly T[] | null) => (list === null ? null : [...list]);
  return {
    id: key.keyId,
    name: key.name,
    owner: key.owner,
    prefix: key.prefix,
    last4: key.last4,
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: toTime(key.lastUsedAtMs),
    revoked_at: toTime(key.revokedAtMs),
    expires_at: toTime(key.expiresAtMs),
    usage: key.usage,
    bodies: key.bodies,
    allow_in_address: key.allowInAddress,
    allow_run_budget: key.allowRunBudget,
    runs_from: [...key.runsFrom],
    allowed_providers:
      key.allowedProviders === null ? null : PROVIDER_NAMES.filter((name) => key.allowedProviders?.includes(name)),
    allowed_models: copy(key.allowedModels),
    allowed_aliases: copy(key.allowedAliases),
    allowed_endpoints: copy(key.allowedEndpoints),
    allowed_networks: copy(key.allowedNetworks),
    ...formatLimit(key),
    replaced_by: key.replacedBy,
    replaced_at: toTime(key.replacedAtMs),
  };
}

/** `usage` null is unknown; a key without calls has zeros. */
export function formatListedKey(
  key: StoredKey,
  usage: ReadonlyMap<number, KeyUsage> | null,
  limitUse: readonly LimitUse[] | null,
  firstKeys: ReadonlyMap<number, number>,
): ListedKey {
  const own = usage === null ? null : (usage.get(key.keyId) ?? NO_USAGE);
  return {
    ...formatKey(key),
    calls_24h: own?.day.calls ?? null,
    cost_24h: own?.day.cost ?? null,
    unpriced_calls_24h: own?.day.unpricedCalls ?? null,
    calls_30d: own?.month.calls ?? null,
    cost_30d: own?.month.cost ?? null,
    unpriced_calls_30d: own?.month.unpricedCalls ?? null,
    calls_since_rotation: key.replacedAtMs === null ? null : (own?.callsSinceRotation ?? null),
    limit_use: isLimited(key) ? readUse(limitUse, keySubject(firstKeys.get(key.keyId) ?? key.keyId)) : null,
  };
}

export function isLimited({ maxConcurrent, requestsPerMinute, tokensPerMinute }: StoredKey): boolean {
  return [maxConcurrent, requestsPerMinute, tokensPerMinute].some((most) => most !== null);
}
