/** Which layer of the price book a rate is from: the catalogue, the gateway's own corrections, or the operator. */
import { Badge, type Tone } from './badges.tsx';

const LAYERS: Readonly<Record<string, { readonly word: string; readonly about: string; readonly tone: Tone }>> = {
  override: { word: 'yours', about: 'Declared here; it outranks all others', tone: 'accent' },
  overlay: { word: 'overlay', about: 'Comes with the gateway: what the catalogue lacks or has wrong', tone: 'good' },
  catalog: { word: 'catalogue', about: 'From the price catalogue', tone: 'neutral' },
};

export function LayerBadge({ layer }: { readonly layer: string | null }) {
  if (layer === null) return null;
  const look = Object.hasOwn(LAYERS, layer) ? LAYERS[layer] : undefined;
  return (
    <Badge tone={look?.tone ?? 'neutral'} title={look?.about ?? layer}>
      {look?.word ?? layer}
    </Badge>
  );
}
