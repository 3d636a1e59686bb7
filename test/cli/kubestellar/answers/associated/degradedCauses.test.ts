/** The cause that `why` names of a degraded object: the first degraded Pod, and the newest warning about that Pod. */
import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import type { AssociatedObject } from '../../../../../src/cli/kubestellar/answers/associated/associatedObjects.ts'
import { causeIn } from '../../../../../src/cli/kubestellar/answers/associated/degradedCauses.ts'
import type { DiscoveredResource } from '../../../../../src/client/client.ts'
import type { Health } from '../../../../../src/placement/outcome/health.ts'

const one = (object: Partial<KubeObject>, account: object): AssociatedObject => ({
  resource: {} as DiscoveredResource,
  object: { apiVersion: 'v1', kind: 'Pod', metadata: {}, ...object },
  account: { root: 'apps|deployments|shop|web', rootUid: 'r', placement: 'p', uid: '', owners: [], ...account },
})
const pod = (name: string, health: Health, message = '') =>
  one({ metadata: { name } }, { uid: name, health, ...(message && { message }) })
const event = (about: string, type: string, reason: string, lastTimestamp: string) =>
  one(
    { kind: 'Event', type, reason, message: `${reason} of ${about}\nmore`, lastTimestamp },
    { uid: reason, owners: [{ kind: 'Pod', name: about, uid: about }] },
  )
const cluster = (...objects: AssociatedObject[]) => ({ location: 'l', root: undefined, health: undefined, objects })

t.test('the degraded Pod is named, with the newest warning about it', async t => {
  t.equal(causeIn(cluster(pod('a', 'Healthy'), event('a', 'Warning', 'Killing', '2026-01-01T00:00:09Z'))), undefined)
  const [a, b] = [pod('a', 'Healthy'), pod('b', 'Degraded', 'container c: back-off')]
  t.equal(causeIn(cluster(a, b)), 'pod/b: container c: back-off')
  const events = [
    event('b', 'Warning', 'Failed', '2026-01-01T00:00:01Z'),
    event('b', 'Warning', 'BackOff', '2026-01-01T00:00:02Z'),
    event('b', 'Normal', 'Pulled', '2026-01-01T00:00:03Z'),
    event('a', 'Warning', 'Unhealthy', '2026-01-01T00:00:04Z'),
  ]
  t.equal(causeIn(cluster(a, b, ...events)), 'pod/b: container c: back-off; Event BackOff: BackOff of b')
})
