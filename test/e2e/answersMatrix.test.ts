/**
 * Each answer in each form, and the result where there is none: one line, nothing for programs, a matching exit code. Beside a real server;
 * what ends the process, and what goes on, in processes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { run as runProgram, startOrreryHere } from '../support/orrery.ts'
import { temporaryDir } from '../support/server.ts'
import { Center } from '../syncer/support/installation.ts'
import { configMap, MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { Program } from '../syncer/support/processes.ts'

const PLUGIN = join(import.meta.dirname, '../../bin/kubectl-kubestellar')
const dir = temporaryDir(t)
writeFileSync(join(dir, 'tokens'), 'token-of-eve,eve,u-9\n')
const orrery = await startOrreryHere(t, ['--token-auth-file', join(dir, 'tokens')])
const { options, base } = await loadKubeconfig(orrery.kubeconfig)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const wds = client.in('root:wmw1')
const placement = (name: string) => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name },
  spec: {
    locationSelectors: [{ matchLabels: { env: 'prod' } }],
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['default'], objectNames: ['page'] }],
  },
})
await wds.create(MAPS, { ...configMap('page', {}), metadata: { name: 'page', namespace: 'default' } })
await wds.create(PLACEMENTS, placement('shops'))
// the answers compared below are about one state
const observed = async (): Promise<unknown> =>
  ((await wds.get(PLACEMENTS, { name: 'shops' })).status as { observedGeneration?: number } | undefined)
    ?.observedGeneration
while ((await observed()) !== 1) {}

const config = parse(readFileSync(orrery.kubeconfig, 'utf8'))
const [{ cluster }] = config.clusters
function kubeconfig(name: string, change: { server?: string; ca?: string; token?: string }): string {
  const { server: url = cluster.server, ca = cluster['certificate-authority-data'], token } = change
  const user = token === undefined ? config.users[0].user : { token }
  const path = join(dir, name)
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  writeFileSync(path, JSON.stringify(content))
  return path
}
const at = (path: string): string => `${orrery.url}/clusters/${path}`
const good = kubeconfig('good', { server: at('root:wmw1') })
const file = join(dir, 'page.yaml')
writeFileSync(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page, labels: {app: shop}}\ndata: {a: b}\n')

const COMMANDS = ['why configmap/page', 'diff configmap/page', `preview -f ${file}`, 'status']
/** For commands that compare, 1 means that there is a difference. */
const troubleOf = (command: string): number => (/^(diff|preview)/.test(command) ? 2 : 1)

async function run(line: string, path: string) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const code = await kubectlKubestellar([...line.split(' '), '--kubeconfig', path], terminal)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

t.test('each answer comes in each form', async t => {
  for (const command of COMMANDS) {
    const text = await run(command, good)
    const forms = ['wide', 'json', 'yaml', 'name'] as const
    const [wide, json, yaml, name] = await Promise.all(forms.map(form => run(`${command} -o ${form}`, good)))
    for (const [form, answer] of Object.entries({ text, wide, json, yaml, name })) {
      t.equal(answer!.code, text.code, `${command}, ${form}: the exit code is that of the answer`)
      t.equal(answer!.err, text.err, `${command}, ${form}: ${answer!.err}`)
    }
    t.ok(text.code <= 1, `${command}: it was answered: ${text.err}`)
    const document = JSON.parse(json!.out)
    t.match(document, { apiVersion: /\//, kind: /\w/ }, command)
    t.same(
      parseAllDocuments(yaml!.out).map(each => each.toJS()),
      [document],
      `${command}: YAML says the same`,
    )
    for (const each of name!.out.split('\n').filter(Boolean)) t.match(each, /^\S+\/\S+$/, `${command} -o name`)
  }
})

const dead = { server: 'https://127.0.0.1:9/clusters/root:wmw1' }
const other = Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n').toString('base64')
const FAULTS: Readonly<Record<string, { path: string; says: RegExp; flags?: string }>> = {
  'no such kubeconfig': { path: join(dir, 'absent'), says: /absent/ },
  'a server that is not there': { path: kubeconfig('dead', dead), says: /127\.0\.0\.1:9/ },
  'an authority that is none': {
    path: kubeconfig('badca', { server: at('root:wmw1'), ca: other }),
    says: /certificate|authority|PEM/i,
  },
  'a token of nobody': {
    path: kubeconfig('nobody', { server: at('root:wmw1'), token: 'x' }),
    says: /unauthorized|logged in|credentials/i,
  },
  'no rights': { path: kubeconfig('eve', { server: at('root:wmw1'), token: 'token-of-eve' }), says: /eve|forbidden/i },
  'a space that is not there': { path: kubeconfig('gone', { server: at('root:wmw') }), says: /wmw/ },
}

for (const [what, { path, says }] of Object.entries(FAULTS))
  t.test(what, async t => {
    for (const command of COMMANDS) {
      const watch = /^(why|status)/.test(command) ? [' --watch'] : []
      for (const form of ['', ' -o json', ' -o name', ...watch]) {
        const line = `${command}${form}`
        const answer = await run(line, path)
        t.equal(answer.code, troubleOf(command), `${line}: ${answer.err}`)
        t.equal(answer.out, '', `${line}: nothing for programs`)
        t.match(answer.err, says, line)
        t.notMatch(answer.err, /\n\s+at |node:/, `${line}: no stack`)
      }
    }
  })

t.test('a slip of the fingers', async t => {
  for (const command of COMMANDS) {
    const slips = [
      // what is not known of flags ends the process
      [`${command} -o jsn`, /jsn.*json|json.*jsn/s, runProgram(PLUGIN, [...command.split(' '), '-o', 'jsn'])],
      [`${command} --space root:wmw`, /root:wmw/, run(`${command} --space root:wmw`, good)],
    ] as const
    for (const [line, says, answer] of slips) {
      const { code, out, err } = await answer
      t.equal(code, troubleOf(command), `${line}: ${err}`)
      t.equal(out, '', line)
      t.match(err, says, line)
    }
  }
  const misspelt = await runProgram(PLUGIN, ['why', 'configmap/page', '--outputt', 'json'])
  t.match(misspelt, { code: 1, out: '', err: /--output/ })
  t.match(await run('why configmap/pag', good), { code: 1, out: '', err: /pag.*page|not found/s })
  t.match(await run('why configmp/page', good), { code: 1, out: '', err: /configmp/ })
})

t.test(
  '--watch answers again, says when the server is gone and when it is back, and ends when it is asked to',
  async t => {
    const center = new Center(t, temporaryDir(t))
    await center.start()
    const path = join(center.dir, 'admin.kubeconfig')
    const watcher = Program.spawned(t, PLUGIN, [
      'status',
      '--space',
      'root:wmw1',
      '-w',
      '-o',
      'yaml',
      '--kubeconfig',
      path,
    ])
    await watcher.said('---')
    await center.in('root:wmw1').create(PLACEMENTS, placement('later'))
    await watcher.said('name: later')
    await center.end()
    await watcher.said('what is printed may be old')
    await center.start()
    await watcher.said('The server answers again.')
    await center.in('root:wmw1').create(PLACEMENTS, placement('last'))
    await watcher.said('name: last')
    t.equal(await watcher.end('SIGTERM'), 'SIGTERM')
  },
)
