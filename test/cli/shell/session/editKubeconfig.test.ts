import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import {
  addContext,
  CURRENT,
  enterServer,
  PREVIOUS,
  swapWithPrevious,
} from '../../../../src/cli/shell/session/contexts.ts'
import { editKubeconfig } from '../../../../src/cli/shell/session/editKubeconfig.ts'
import { KubeconfigFiles, kubeconfigPaths } from '../../../../src/cli/shell/session/kubeconfigFiles.ts'

const LONG = 'QUJD'.repeat(100)
const CONFIG = `# my clusters
apiVersion: v1
kind: Config
preferences: {}
clusters:
- cluster:
    certificate-authority-data: ${LONG} # from the admin
    server: https://h:1/clusters/root
    x-unknown: { keep: me }
  name: root
contexts:
- context:
    cluster: root
    namespace: team
    user: me
  name: root
current-context: root
users:
- name: me
  user:
    token: secret
`

interface Config {
  'current-context': string
  clusters: { name: string; cluster: Record<string, unknown> }[]
  contexts: { name: string; context: Record<string, unknown> }[]
}

function readConfig(path: string) {
  const config: Config = parse(readFileSync(path, 'utf8'))
  return {
    current: config['current-context'],
    clusters: Object.fromEntries(config.clusters.map(c => [c.name, c.cluster])),
    contexts: Object.fromEntries(config.contexts.map(c => [c.name, c.context])),
  }
}

t.test('entering a space keeps user, namespace, unknown fields, comments and the old context', async t => {
  const path = join(t.testdir({ config: CONFIG }), 'config')
  await editKubeconfig([path], files => enterServer(files, 'https://h:1/clusters/root:a', 'root'))
  const { current, clusters, contexts } = readConfig(path)
  t.equal(current, CURRENT)
  t.strictSame(clusters[CURRENT], { ...clusters.root, server: 'https://h:1/clusters/root:a' })
  t.strictSame(contexts[CURRENT], { cluster: CURRENT, namespace: 'team', user: 'me' })
  t.strictSame(contexts[PREVIOUS], { cluster: 'root', namespace: 'team', user: 'me' })
  t.notOk(clusters[PREVIOUS], 'the previous cluster is only copied when its original is overwritten')
  const text = readFileSync(path, 'utf8')
  t.ok(text.startsWith(CONFIG.slice(0, CONFIG.indexOf('  name: root\n'))), 'what was there reads as before')
})

t.test('- goes to and fro', async t => {
  const path = join(t.testdir({ config: CONFIG }), 'config')
  const enter = (server: string) => editKubeconfig([path], files => enterServer(files, server, files.currentContext))
  const back = () => editKubeconfig([path], files => swapWithPrevious(files, files.currentContext))
  await t.rejects(back(), { message: 'no previous workspace found in kubeconfig' })
  await enter('https://h:1/clusters/root:a')
  await enter('https://h:1/clusters/root:b')
  t.equal(await back(), 'https://h:1/clusters/root:a')
  t.equal(await back(), 'https://h:1/clusters/root:b')
  t.equal(readConfig(path).clusters.root?.server, 'https://h:1/clusters/root', 'other clusters are left alone')
})

t.test('a context is not overwritten by accident', async t => {
  const path = join(t.testdir({ config: CONFIG }), 'config')
  const wanted = { name: 'root', from: 'root', server: 'https://h:1/clusters/x', overwrite: false, enter: false }
  await t.rejects(
    editKubeconfig([path], files => addContext(files, wanted)),
    { message: 'context "root" already exists in kubeconfig, use --overwrite to update it' },
  )
  t.equal(readFileSync(path, 'utf8'), CONFIG)
  t.strictSame(readdirSync(join(path, '..')), ['config'], 'neither lock nor temporary file stays')
})

t.test('several files: the first that has an entry wins, new entries go to the first file', async t => {
  const second = `{"clusters":[{"name":"far","cluster":{"server":"https://f","certificate-authority":"ca.pem"}}],
    "contexts":[{"name":"far","context":{"cluster":"far","user":"me"}},{"name":"root","context":{"cluster":"far"}}],
    "current-context":"far"}`
  const dir = t.testdir({ one: CONFIG, sub: { two: second } })
  const [one, two] = [join(dir, 'one'), join(dir, 'sub/two')]
  const paths = kubeconfigPaths(undefined, `${join(dir, 'missing')}:${one}::${two}`)
  const files = await KubeconfigFiles.read(paths)
  t.strictSame(files.paths, [one, two])
  t.equal(files.currentContext, 'root')
  t.equal(files.get('contexts', 'root')?.cluster, 'root')
  const merged = JSON.parse(files.merged())
  t.strictSame(merged.contexts.map((c: { name: string }) => c.name).sort(), ['far', 'root'])

  await editKubeconfig(paths, edited => enterServer(edited, 'https://f/clusters/x', 'far'))
  t.equal(readFileSync(two, 'utf8'), second, 'the second file is not touched')
  const { current, clusters } = readConfig(one)
  t.equal(current, CURRENT)
  t.strictSame(clusters[CURRENT], { server: 'https://f/clusters/x', 'certificate-authority': join(dir, 'sub/ca.pem') })
})

t.test('commands at the same time lose nothing', async t => {
  const path = join(t.testdir({ config: CONFIG }), 'config')
  const names = Array.from({ length: 8 }, (_, index) => `c${index}`)
  const add = (name: string) =>
    editKubeconfig([path], files =>
      addContext(files, { name, from: 'root', server: `https://h/${name}`, overwrite: false, enter: false }),
    )
  await Promise.all(names.map(add))
  t.strictSame(Object.keys(readConfig(path).contexts).sort(), [...names, 'root'])
})

t.test('a symbolic link stays one, and the file keeps its mode', async t => {
  const dir = t.testdir({})
  mkdirSync(join(dir, 'real'))
  writeFileSync(join(dir, 'real/config'), CONFIG, { mode: 0o640 })
  symlinkSync(join(dir, 'real/config'), join(dir, 'link'))
  await editKubeconfig([join(dir, 'link')], files => enterServer(files, 'https://h:1/clusters/root:a', 'root'))
  t.ok(lstatSync(join(dir, 'link')).isSymbolicLink())
  t.equal(statSync(join(dir, 'real/config')).mode & 0o777, 0o640)
  t.equal(readConfig(join(dir, 'real/config')).current, CURRENT)
})

t.test('a kubeconfig that is missing or broken is named', async t => {
  const dir = t.testdir({ broken: 'clusters: [', list: '- a' })
  await t.rejects(KubeconfigFiles.read([join(dir, 'none')]), { message: `no kubeconfig found at ${join(dir, 'none')}` })
  await t.rejects(KubeconfigFiles.read([join(dir, 'broken')]), { message: /broken: / })
  await t.rejects(KubeconfigFiles.read([join(dir, 'list')]), { message: /must be a YAML mapping/ })
})
