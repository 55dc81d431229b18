/** Node's own request and response of a route, for streamed bodies. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

const Bindings = z.object({ incoming: z.instanceof(IncomingMessage), outgoing: z.instanceof(ServerResponse) });

export function bindingsOf(bindings: unknown): z.infer<typeof Bindings> {
  const parsed = Bindings.safeParse(bindings);
  if (!parsed.success) throw new TypeError('a body of any size needs a server whose connection can be broken off');
  return parsed.data;
}
