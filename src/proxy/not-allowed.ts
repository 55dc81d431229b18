/** The refusal of a call that its key does not allow: what is allowed, and who can change it. */
import type { KeyEntry } from '../vocabulary/channel.ts';
import { GatewayError } from '../vocabulary/errors.ts';

type AllowanceCode = 'provider_not_allowed' | 'alias_not_allowed' | 'endpoint_not_allowed' | 'model_not_allowed';

const FLAGS: Readonly<Record<AllowanceCode, string>> = {
  provider_not_allowed: '--providers',
  alias_not_allowed: '--aliases',
  endpoint_not_allowed: '--endpoints',
  model_not_allowed: '--models',
};
/** A longer list is cut: the message stands in a client's terminal. */
const SHOWN_ITEMS = 20;

/** Only for a caller whose network is allowed: it says what the key is for. */
export function notAllowed(
  code: AllowanceCode,
  { keyId }: Pick<KeyEntry, 'keyId'>,
  allowed: readonly string[],
  reason = '',
): GatewayError {
  const shown = allowed.slice(0, SHOWN_ITEMS).join(', ');
  const more = allowed.length > SHOWN_ITEMS ? ', …' : '';
  const change = `who manages the keys of this gateway can change that: \`tollgate keys edit ${keyId} ${FLAGS[code]} …\``;
  return new GatewayError(code, { detail: `${reason}allowed: ${shown}${more}; ${change}` });
}
