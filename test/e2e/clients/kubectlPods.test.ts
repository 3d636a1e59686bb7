/** Work of kubectl on an existing pod: looks into it with a container of its own, and gives it more. */
import t from 'tap'
import { findKubectls, KubectlSession, minorOf } from '../../support/orrery.ts'
import { temporaryDir } from '../../support/server.ts'
import { startSpace } from './session.ts'

/** `--subresource resize` came with this release. */
const RESIZE = 33
const DEBUG = 25
const found = await findKubectls()
const newest = found.at(-1)
const able = newest !== undefined && minorOf(newest) >= DEBUG
const pod = (spec: object): string => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
const PLAIN = pod({ containers: [{ name: 'c', image: 'nginx:1', resources: { requests: { cpu: '1' } } }] })

t.test(
  'kubectl debugs and resizes a pod, and is told of its security',
  { skip: !able && 'no kubectl that can' },
  async t => {
    const { kubeconfig } = await startSpace(t, 'pods')
    const session = new KubectlSession(newest!, temporaryDir(t), ['--kubeconfig', kubeconfig])
    await session.ok('create -f -', { input: PLAIN })
    await session.ok('debug p --image=busybox:1 --target=c --container=look --attach=false --quiet')
    t.equal(
      await session.ok(
        "get pod p -o jsonpath='{range .spec.ephemeralContainers[*]}{.name} {.image} {.targetContainerName}{end}'",
      ),
      'look busybox:1 c',
    )
    if (minorOf(newest!) >= RESIZE) {
      const change = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '500m' } } }] } }
      await session.ok(`patch pod p --subresource resize -p '${JSON.stringify(change)}'`)
      const amounts = "-o jsonpath='{.spec.containers[0].resources.requests.cpu}'"
      t.equal(await session.ok(`get pod p ${amounts}`), '500m')
      t.equal(await session.ok(`get pod p --subresource resize ${amounts}`), '500m')
    }
    const { err } = await session.run('label namespace default pod-security.kubernetes.io/enforce=restricted')
    t.match(err, /existing pods in namespace "default" violate the new PodSecurity enforce level "restricted:latest"/)
    await session.ok('delete pod p --now')
    const refused = await session.run('create -f -', { input: PLAIN })
    t.match(refused.err, /\(Forbidden\).*pods "p" is forbidden: violates PodSecurity "restricted:latest": /)
  },
)
