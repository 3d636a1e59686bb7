/**
 * docs/kubernetes.md, each block as it stands there, with helm, against a cluster that accepts objects and runs nothing. The Pod of the
 * server is a process here, with the arguments of its StatefulSet.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { noHelm } from '../deploy/support/helm.ts'
import { run } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { clientOf } from '../syncer/support/installation.ts'
import { Command, freePort, Program, until } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const BLOCKS = shellBlocks(readFileSync(join(ROOT, 'docs/kubernetes.md'), 'utf8'))
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' }
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
/** Kinds that operators bring to a cluster, and that the charts' objects need. */
const FOREIGN = [
  { group: 'cert-manager.io', kind: 'Certificate', plural: 'certificates' },
  { group: 'monitoring.coreos.com', kind: 'ServiceMonitor', plural: 'servicemonitors' },
]

t.setTimeout(FILE_LIMIT_MS)
const skip = noHelm || noKubectl()
t.test('what the page says to type does it', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const port = await freePort()
  const hostData = join(dir, 'host')
  const simulated = ['simulate-wec', '--name', 'host', '--data-dir', hostData, '--secure-port', '0']
  await new Command(t, simulated).said('ready')
  const inCluster = join(hostData, 'admin.kubeconfig')
  const host = await clientOf(t, inCluster)
  for (const crd of FOREIGN) {
    await host.create(CRDS, definition(crd))
    const established = (found: KubeObject | undefined): boolean =>
      /Established/.test(JSON.stringify(found?.status ?? {}))
    await until(host, CRDS, { name: `${crd.plural}.${crd.group}` }, established)
  }

  /** With a name that leads to this machine, and files in a folder of the test's. */
  const type = async (script: string, kubeconfig: string): Promise<string> => {
    const here = script
      .replaceAll('externalHostname=orrery.example.org', `externalHostname=localhost --set externalPort=${port}`)
      .replaceAll('deploy/chart/', `${ROOT}/deploy/chart/`)
    const env = { KUBECONFIG: kubeconfig, HOME: dir, PATH: `${ROOT}/bin:${ROOT}/node_modules/.bin:${process.env.PATH}` }
    const { code, out, err } = await run('bash', ['-ec', `cd ${dir}\n${here}`], { env })
    t.equal(code, 0, `${here}\n${out}\n${err}`)
    return out
  }
  const [
    install = '',
    spaces = '',
    kubeconfig = '',
    certificates = '',
    backups = '',
    metrics = '',
    enrol = '',
    syncer = '',
    ...more
  ] = BLOCKS.map(({ script }) => script)
  t.same(more, [])
  const argsOf = async (): Promise<string[]> => {
    const set = await host.get(SETS, { namespace: 'orrery', name: 'orrery' })
    return (set as unknown as { spec: PodTemplate }).spec.template.spec.containers[0]!.args
  }

  t.match(await type(install, inCluster), /STATUS: deployed/)
  t.match(await type(spaces, inCluster), /STATUS: deployed/)
  const args = await argsOf()
  t.match(args.join(' '), /--ensure-imw=root:fleet .*--ensure-wmw=root:shop,root:team:web/)
  t.match(args.join(' '), `--external-port=${port}`, 'values of before are kept')
  const changes: Record<string, string> = {
    '--data-dir': join(dir, 'data'),
    '--bind-address': '127.0.0.1',
    '--secure-port': String(port),
    '--health-address': 'none',
  }
  const server = Program.orrery(t, [
    ...args.map(arg => {
      const [flag = ''] = arg.split('=')
      return flag in changes ? `${flag}=${changes[flag]}` : arg
    }),
    `--host-kubeconfig=${inCluster}`,
  ])
  await server.said('orrery ready')
  const filled = (secret: KubeObject | undefined): boolean =>
    isRecord(secret?.data) && 'external.kubeconfig' in secret.data
  await until(host, SECRETS, { namespace: 'orrery', name: 'orrery' }, filled)
  t.match(await type(kubeconfig, inCluster), /fleet[\s\S]*shop[\s\S]*team/)

  t.match(await type(certificates, inCluster), /STATUS: deployed/)
  const made = { group: 'cert-manager.io', version: 'v1', resource: 'certificates' }
  const [certificate] = (await host.list(made)).items
  t.match(certificate, { spec: { dnsNames: ['localhost'], issuerRef: { name: 'company', kind: 'ClusterIssuer' } } })
  t.match((await argsOf()).join(' '), '--ensure-imw=root:fleet', 'and nothing else has changed')
  t.match(await type(backups, inCluster), /STATUS: deployed/)
  const [job] = (await host.list({ group: 'batch', version: 'v1', resource: 'cronjobs' })).items
  t.match(JSON.stringify(job), /"--keep=?28|"--keep","28"/)
  t.match(JSON.stringify(job), /"secretName":"orrery-backup-key"/)
  t.match(await type(metrics, inCluster), /STATUS: deployed/)
  const monitors = { group: 'monitoring.coreos.com', version: 'v1', resource: 'servicemonitors' }
  t.equal((await host.list(monitors)).items.length, 1)
  t.match((await argsOf()).join(' '), '--token-auth-file=')

  const orrery = join(dir, 'orrery.kubeconfig')
  await type(enrol, orrery)
  t.match(await type(syncer, inCluster), /STATUS: deployed/)
  t.ok((await host.list(DEPLOYMENTS)).items.some(({ metadata }) => metadata.namespace === 'orrery-syncer'))
  const mailbox = (await host.list(SECRETS)).items.find(
    ({ metadata, data }) => metadata.namespace === 'orrery-syncer' && isRecord(data) && 'kubeconfig' in data,
  )
  t.equal(
    Buffer.from((mailbox as unknown as { data: Record<string, string> }).data.kubeconfig!, 'base64').toString(),
    readFileSync(join(dir, 'florin.kubeconfig'), 'utf8'),
  )
  t.equal(await server.end('SIGTERM'), 0)
})

interface PodTemplate {
  template: { spec: { containers: { args: string[] }[] } }
}

function definition({ group, kind, plural }: (typeof FOREIGN)[number]): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const version = { name: 'v1', served: true, storage: true, schema }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { kind, plural }, versions: [version] },
  }
}
