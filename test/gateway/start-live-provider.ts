/** As much of Gemini Live as its SDKs need for one turn: the setup is complete, and so is the turn. */
import { startWebsocketProvider, type WebsocketProvider } from '../proxy/websocket-provider.ts';

export function startLiveProvider(): Promise<WebsocketProvider> {
  return startWebsocketProvider((session) => {
    session.on('message', (data) => {
      const isSetup = String(data).includes('"setup"');
      session.send(isSetup ? '{"setupComplete":{}}' : '{"serverContent":{"turnComplete":true}}');
    });
  });
}
