/** Metadata keys: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function MetadataPage() {
  return <PageHeader title="Metadata keys" />;
}
