/** Replaces API fields by flags in the gateway's refusals. */
import { OperatorError } from '../../vocabulary/errors.ts';
import type { GatewayClient } from '../gateway-client.ts';

/** A mapping ends with `--until`, since its `--to` is a model. */
const FLAGS: Readonly<Record<string, string>> = {
  at: '--at',
  billing_model: '--to',
  checked_on: '--checked-on',
  factor: '--factor',
  from: '--from',
  interval: '--interval',
  note: '--note',
  over_tokens: '--over-tokens',
  provider_alias: '--alias',
  'rates.cache_read': '--cache-read',
  'rates.input': '--input',
  'rates.output': '--output',
  reason: '--reason',
  requested_at: '--at',
  service_tier: '--tier',
  to: '--to',
  tz: '--tz',
  up_to_tokens: '--up-to-tokens',
  valid_from: '--from',
  valid_to: '--to or --until',
};

function nameFlag(field: string): string {
  const known = Object.hasOwn(FLAGS, field) ? FLAGS[field] : undefined;
  return known ?? field.replace(/^rates\./, '--rate ');
}

/** `add.rates.input: a rate is …` becomes `--input: a rate is …`; a preview wraps declarations in `add`. */
export function nameFlags(message: string): string {
  const [, field, rest] = /^(?:add\.)?([a-z][a-z0-9_.]*): (.*)$/s.exec(message) ?? [];
  if (field === undefined || rest === undefined) return message;
  return `${nameFlag(field)}: ${rest.replace(/\b(?:valid_from|over_tokens)\b/g, nameFlag)}`;
}

/** Not for commands that send a file. */
export function withFlagNames(client: GatewayClient): GatewayClient {
  return {
    ...client,
    ask: async (schema, path, options) => {
      try {
        return await client.ask(schema, path, options);
      } catch (error) {
        if (error instanceof OperatorError) throw new OperatorError(nameFlags(error.message), { cause: error });
        throw error;
      }
    },
  };
}
