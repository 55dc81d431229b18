/** Terms that a call's headers ask for; `read-requested-model.ts` reads those of its body. */
import type { HeaderTerms } from '../pricing/greatest/greatest-cost.ts';
import type { CallContext } from './call-context.ts';

/** Null where they ask for none. */
export function readHeaderTerms({ request, route }: CallContext): HeaderTerms | null {
  const names = route.provider.termHeaders;
  if (names === undefined) return null;
  const [serviceTier = null, speed = null] = [request.header(names.serviceTier), request.header(names.speed)];
  return serviceTier === null && speed === null ? null : { serviceTier, speed };
}
