/** Sign in: not built yet. */
import { PageHeader } from '../../components/page-header.tsx';

export function LoginPage() {
  return <PageHeader title="Sign in" />;
}
