/** kubectl in a space, one that sends JSON (1.20) and one that sends protobuf (1.32). More of it: ../kubectl.test.ts. */
import t from 'tap'
import { findKubectls, KubectlSession } from '../../support/orrery.ts'
import { temporaryDir } from '../../support/server.ts'
import { STORY, startSpace } from './session.ts'

const found = await findKubectls()
const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: 'nginx:1'}]}
`

for (const version of ['1.20', '1.32']) {
  const kubectl = found.find(each => each.version === version)
  const skip = kubectl ? false : `no kubectl ${version}: not in KUBEBUILDER_ASSETS, the Google Cloud SDK or the PATH`
  t.test(`a session of kubectl ${version}`, { skip }, async t => {
    const { kubeconfig } = await startSpace(t, `k${version.slice(2)}`)
    const session = new KubectlSession(kubectl!, temporaryDir(t), ['--kubeconfig', kubeconfig])
    const told: string[] = []
    told.push(`created ${(await session.ok('create configmap one --from-literal=n=1 -o name')).split('/')[1]}`)
    told.push(`read ${await session.ok("get configmap one -o jsonpath='{.data.n}'")}`)
    let stale = ''
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { n: '4', how: 'applied' } }
    const steps: Record<string, () => Promise<void>> = {
      async 1() {
        await session.ok(`patch configmap one -p '{"data":{"n":"2","how":"patched"}}'`)
      },
      async 2() {
        const now = JSON.parse(await session.ok('get configmap one -o json')) as object
        stale = JSON.stringify({ ...now, data: { n: '3', how: 'replaced' } })
        await session.ok('replace -f -', { input: stale })
      },
      async 3() {
        const { err } = await session.run('replace -f -', { input: stale })
        told.push(err.includes('(Conflict)') ? 'conflict 409 Conflict' : err)
        await session.ok('apply --server-side --force-conflicts -f -', { input: JSON.stringify(applied) })
      },
      async 4() {
        await session.ok('apply -f -', { input: DEPLOYMENT })
        const fields = '{.spec.template.spec.containers[0].image} x{.spec.replicas}'
        told.push(`deployment ${await session.ok(`get deployment web -o jsonpath='${fields}'`)}`)
        const names = await session.ok("get configmaps -l '!none' -o jsonpath='{.items[*].metadata.name}'")
        told.push(`list ${names}`)
        await session.ok('delete configmap one')
      },
    }
    const events = session.follow(
      'get configmaps --watch --output-watch-events --field-selector=metadata.name=one -o jsonpath=\'{.type}~{.object.data.n}~{.object.data.how}{"\\n"}\'',
    )
    for (;;) {
      const { value } = await events.lines.next()
      const [type = '', n = '', how = ''] = (value ?? '').split('~')
      told.push(`${type} ${n}${type === 'MODIFIED' ? ` ${how}` : ''}`)
      if (type === 'DELETED') break
      await steps[n]!()
    }
    events.stop()
    const { err } = await session.run('get configmap one')
    told.push(err.includes('(NotFound)') ? 'missing 404 NotFound' : err)
    t.strictSame(told, STORY)
  })
}
