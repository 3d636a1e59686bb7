/** docs/aggregation.md, each block as it stands there, against a real kube-apiserver, and what its users and administrators do then. */
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { Api } from '../support/api.ts'
import { findKubectls, type KubectlSession, type Ran, run } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { pluginHere } from '../support/runHere.ts'
import { createSpace, temporaryDir } from '../support/server.ts'
import { clientOf, registerCluster, there } from '../syncer/support/installation.ts'
import { MAPS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { assetsDir, startControllers } from '../syncer/support/realCluster.ts'
import { BehindHost, EVERYTHING, eventually, READING } from './support/behindHost.ts'
import { shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/aggregation.md'), 'utf8')
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const SPACES = '/apis/tenancy.kcp.io/v1alpha1/spaces'
const CONFIG = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const skip = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is unset: no kube-apiserver to stand behind'

t.setTimeout(FILE_LIMIT_MS)
t.test('a server behind a real kube-apiserver', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const [start = '', lead = '', chart = '', context = '', right = '', remove = '', ...others] = shellBlocks(PAGE).map(
    ({ script }) => script,
  )
  t.same(others, [], 'each block is typed')
  const ground = await BehindHost.start(t, dir, port =>
    start
      .replaceAll('orrery.example.org', 'localhost')
      .replace('--bind-address 0.0.0.0', `--aggregated-port ${port}`)
      .replace('orrery.kubeconfig', join(dir, 'orrery.kubeconfig'))
      .trim()
      .split(' ')
      .slice(2)
      // the namespaces of the host end all the same
      .concat('--aggregate-namespaced'),
  )
  const { cluster, center } = ground
  copyFileSync(cluster.kubeconfig, join(dir, 'host.kubeconfig'))
  copyFileSync(join(dir, 'host', 'certs', 'apiserver.crt'), join(dir, 'host-ca.crt'))
  const env = {
    HOME: dir,
    KUBECONFIG: join(dir, 'user.kubeconfig'),
    PATH: `${ROOT}/bin:${ROOT}/node_modules/.bin:${assetsDir()}:${process.env.PATH}`,
  }
  /** With names that lead to this machine, and files in a folder of the test's. */
  const typed = (script: string, more: object = {}): Promise<Ran> => {
    const here = script
      .replaceAll('orrery.example.org', 'localhost')
      .replaceAll(/orrery aggregation (\w+)/g, `orrery aggregation $1 --aggregated-port ${ground.port}`)
      .replaceAll('HOST:6443', `127.0.0.1:${cluster.port}`)
    return run('bash', ['-ec', `cd ${dir}\n${here}`], { env: { ...env, ...more } })
  }
  const type = async (t: Test, script: string, more: object = {}): Promise<string> => {
    const { code, out, err } = await typed(script, more)
    t.equal(code, 0, `${script}\n${out}\n${err}`)
    return out
  }
  const status = lead.trim().split('\n').at(-1)!
  const available = (): Promise<void> =>
    eventually(async () => {
      const { code, out, err } = await typed(status)
      if (code !== 0) throw new Error(`${out}\n${err}`)
    })

  await center.start()
  await t.test('the page', async t => {
    const led = await typed(lead)
    t.equal(led.err, '')
    await available()
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? []
    const admin = ground.admin.in('root:wmw1')
    await admin.ok(admin.send('POST', `${RBAC}/clusterrolebindings`, { body: yaml, type: 'application/yaml' }))
    const asHost = { KUBECONFIG: cluster.kubeconfig }
    const inPod = chart.replace('kubectl exec --namespace orrery orrery-0 -- ', '').replace('/var/lib/', './.')
    t.match(await type(t, inPod, asHost), /^apiservice.apiregistration.k8s.io\/v1alpha1.tenancy.kcp.io unchanged$/m)
    // of a server in a Pod; this one has rights as a user
    await type(t, lead.split('\n').find(line => line.includes('apply'))!)
    await type(t, right, asHost)
    await type(t, 'kubectl create clusterrolebinding bob-spaces --clusterrole orrery-spaces --user bob', asHost)
    await type(
      t,
      'kubectl create clusterrole placements --verb "*" --resource edgeplacements.edge.kubestellar.io',
      asHost,
    )
    await type(
      t,
      'kubectl create clusterrolebinding placements --clusterrole placements --user alice --user bob',
      asHost,
    )
    await eventually(() => ground.host('alice').ok(ground.host('alice').get(SPACES)))
    await type(t, `kubectl config set-credentials me --token alicetoken\n${context}`)
    const direct = (token: string) => {
      const api = new Api({ url: `https://127.0.0.1:${ground.port}`, token })
      t.teardown(() => api.close())
      return api.get(SPACES)
    }
    t.match(await direct('alicetoken'), { code: 200, body: { kind: 'SpaceList' } }, 'a token of the host, past it')
    t.equal((await direct('sometoken')).code, 401)
  })

  const second = 'root:second'
  const root = ground.admin.in('root')
  await createSpace(root, 'second', 'workload')
  await ground.grant('bob', 'root:wmw1', [READING])
  await ground.grant('bob', second, EVERYTHING)
  await ground.grant('alice', second, [READING])

  const kubectls = (await findKubectls()).filter(({ version }) => version === '1.20' || version >= '1.32')
  t.equal(kubectls[0]?.version, '1.20')
  for (const kubectl of kubectls)
    await t.test(`kubectl ${kubectl.version}: two users, two spaces, other rights in each`, async t => {
      const by = (user: string, space?: string): KubectlSession => ground.session(kubectl, user, space)
      const names = ['root', second, 'root:wmw1'].map(path => `space.tenancy.kcp.io/${path}`).join('\n')
      for (const user of ['alice', 'bob']) t.equal(await by(user).ok('get spaces -o name'), names)
      t.match(await by('alice').ok('api-resources --api-group=tenancy.kcp.io'), /spaces .*Space/)
      t.match(await by('alice').ok('explain space.status.proxyPath'), /server of a kubeconfig ends in it/)
      for (const [space, owner, reader] of [
        ['root:wmw1', 'alice', 'bob'],
        [second, 'bob', 'alice'],
      ] as const) {
        const own = by(owner, space)
        const reading = by(reader, space)
        const manifest = join(dir, 'one.json')
        const metadata = { name: 'one', namespace: 'default' }
        const applied = async (value: string): Promise<string> => {
          writeFileSync(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: value } }))
          return await own.ok(`apply -f ${manifest}`)
        }
        t.equal(await applied('b'), 'configmap/one created')
        t.equal(await applied('b'), 'configmap/one unchanged')
        const watch = reading.follow('get configmap one --watch -o jsonpath=\'{.data.a}{"\\n"}\'')
        t.match(await watch.lines.next(), { value: 'b' })
        t.equal(await applied('c'), 'configmap/one configured')
        t.match(await watch.lines.next(), { value: 'c' }, 'a watch tells while it goes on')
        watch.stop()
        t.match(await own.ok('auth can-i create pods'), /^yes$/m)
        t.match((await reading.run('auth can-i create pods')).out, /^no$/m)
        t.match(await reading.ok('explain deployment.spec.replicas'), /FIELD: +replicas/)
        t.match(await reading.ok('api-resources --api-group=apps'), /deployments +deploy +apps\/v1 +true +Deployment/)
        t.match(await reading.run('delete configmap one'), { code: 1, err: /User "host:\w+" cannot delete/ })
        t.match(await own.ok('delete configmap one'), /deleted/)
        const forbidden = await reading.run('get --raw /apis/apps/v1/x%2Fy')
        t.not(forbidden.code, 0)
      }
    })

  await t.test('kubectl ws keeps the way through the host', async t => {
    const kubeconfig = ground.kubeconfig('bob', 'root:wmw1')
    const ws = (...args: string[]): Promise<Ran> => pluginHere('ws', ...args, '--kubeconfig', kubeconfig)
    t.match(await ws('.'), { code: 0, out: /'root:wmw1'/ })
    t.match(await ws(':root:second'), { code: 0, out: /'root:second'/, err: '' })
    t.match(readFileSync(kubeconfig, 'utf8'), `${SPACES}/${second}/proxy`)
    t.match(await ws('-', '--short'), { code: 0, out: 'root:wmw1\n' })
    t.match(await ws('budget', '--space', second, '-o', 'name'), { code: 0, out: `${second}\n` })
    t.match(await ws(':root:none'), { code: 1, err: /workspace "root:none" not found, or closed to you/ })
    const kubestellar = (...args: string[]): Promise<Ran> =>
      pluginHere('kubestellar', ...args, '--kubeconfig', kubeconfig)
    t.match(await kubestellar('status', '--space', second), { code: 0, err: /nothing is placed from root:second/ })
    const refused = await kubestellar('kubeconfig', '--for', 'eve')
    t.match(refused, { code: 1, err: /leads through a host cluster, which knows no credential of Orrery/ })
  })

  await t.test('what leads to a Pod is refused in words; a watch over WebSocket is served', async t => {
    const [old] = kubectls
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default' } }
    const admin = ground.admin.in('root:wmw1')
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await admin.ok(admin.post('/api/v1/namespaces/default/pods', { ...pod, spec }))
    for (const kubectl of [old!, kubectls.at(-1)!])
      for (const args of ['exec p -- true', 'attach p', 'port-forward p 8080']) {
        const { code, err } = await ground.session(kubectl, 'alice', 'root:wmw1').run(args)
        t.equal(code, 1)
        t.match(
          err,
          /pod p does not run in this space|is not running|pod is not running|unable to forward/,
          `${kubectl.version} ${args}`,
        )
      }
    const watch = new WebSocket(`${ground.through('root:wmw1')}/api/v1/namespaces?watch=1`, {
      rejectUnauthorized: false,
      headers: { authorization: 'Bearer alicetoken' },
    })
    const [first] = (await once(watch, 'message')) as [Buffer]
    t.match(JSON.parse(String(first)), { type: 'ADDED', object: { kind: 'Namespace' } })
    watch.terminate()
  })

  await t.test('a placement that is made through the host reaches its cluster, and no other one', async t => {
    const clusters = await Promise.all(
      (['prod', 'test'] as const).map(async env => {
        const member = join(dir, env)
        const flags = ['simulate-wec', '--name', env, '--data-dir', member, '--secure-port', '0']
        const [mailbox] = await Promise.all([
          registerCluster(center, env, { env }),
          new Command(t, flags).said('ready'),
        ])
        const from = join(dir, `${env}-syncer.kubeconfig`)
        await center.syncerKubeconfig(from, mailbox)
        const to = join(member, 'admin.kubeconfig')
        new Command(t, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to])
        return await clientOf(t, to)
      }),
    )
    const [kubectl] = kubectls
    const placement = {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'EdgePlacement',
      metadata: { name: 'one' },
      spec: {
        locationSelectors: [{ matchLabels: { env: 'prod' } }],
        downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['shop'], objectNames: ['*'] }],
      },
    }
    const [file, content] = [join(dir, 'placement.json'), join(dir, 'content.json')]
    const page = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'page', namespace: 'shop' },
      data: { a: 'b' },
    }
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    writeFileSync(file, JSON.stringify(placement))
    writeFileSync(content, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [shop, page] }))
    const alice = ground.session(kubectl!, 'alice')
    await ground.session(kubectl!, 'alice', 'root:wmw1').ok(`apply -f ${content}`)
    t.equal(await alice.ok(`apply -f ${file}`), 'edgeplacement.edge.kubestellar.io/one created')
    t.match(await ground.session(kubectl!, 'bob').run('delete edgeplacement one'), {
      err: /User "host:bob" cannot delete/,
    })
    const at = { namespace: 'shop', name: 'page' }
    await until(clusters[0]!, MAPS, at, there)
    t.match(await clusters[0]!.get(MAPS, at), { data: { a: 'b' } })
    await t.rejects(clusters[1]!.get(MAPS, at), /"page" not found/)
    await alice.ok('delete edgeplacement one')
  })

  await t.test('the host restarts, and its front proxy gets another authority', async t => {
    const alice = ground.host('alice')
    await cluster.restart()
    await available()
    await eventually(() => alice.ok(alice.get(SPACES)))
    t.pass('its users are back')
    const before = {
      cert: readFileSync(join(dir, 'front.crt'), 'utf8'),
      key: readFileSync(join(dir, 'front.key'), 'utf8'),
    }
    const direct = (pair: object) => {
      const api = new Api({ url: `https://127.0.0.1:${ground.port}`, ...pair })
      t.teardown(() => api.close())
      return api.get(EDGE, { 'x-remote-user': 'alice' })
    }
    t.equal((await direct(before)).code, 200)
    await ground.rotate()
    await available()
    await eventually(() => alice.ok(alice.get(SPACES)))
    t.pass('by the next certificate')
    t.equal((await direct(before)).code, 200, 'the host goes on naming the former authority beside the next')
    const admin = ground.host('admin')
    await admin.ok(admin.delete(CONFIG))
    await eventually(async () => {
      if ((await direct(before)).code !== 401) throw new Error('the former certificate counts')
    })
    await eventually(() => alice.ok(alice.get(SPACES)))
    t.pass('the host describes its front proxy anew, without the former authority')
  })

  await t.test('a namespace of the host ends at once, and waits while the server is down', async t => {
    startControllers(t, cluster.kubeconfig, ['namespace'])
    // a probe may have met the moment in which no front proxy was known
    await available()
    const admin = ground.host('admin')
    const ends = async (name: string): Promise<void> => {
      await admin.ok(admin.post('/api/v1/namespaces', { metadata: { name } }))
      await admin.ok(admin.delete(`/api/v1/namespaces/${name}`))
    }
    const gone = (name: string): Promise<void> =>
      eventually(async () => {
        const { code, text } = await admin.get(`/api/v1/namespaces/${name}`)
        if (code !== 404) throw new Error(text)
      })
    await eventually(async () => {
      const { out } = await ground.asHost('api-resources', '--namespaced')
      if (!/^customizers .* edge.kubestellar.io/m.test(out)) throw new Error(out)
    })
    t.pass('the host has discovered namespaced kinds behind it')
    await ends('while-up')
    await gone('while-up')
    await center.end()
    await eventually(async () => {
      if ((await typed(status)).code === 0) throw new Error('the host calls the APIServices available')
    })
    const listed = await ground.asHost('api-resources')
    t.match(listed, {
      code: 1,
      err: /unable to retrieve the complete list of server APIs: edge.kubestellar.io\/v2alpha1/,
    })
    t.match(listed.out, /^configmaps /m, 'the rest of the host goes on')
    await ends('while-down')
    await eventually(async () => {
      const { body } = await admin.get('/api/v1/namespaces/while-down')
      if (!/NamespaceDeletionDiscoveryFailure.*"True"|"True".*DiscoveryFailed/.test(JSON.stringify(body.status)))
        throw new Error(JSON.stringify(body.status))
    })
    await center.start()
    await available()
    await gone('while-down')
    t.pass('it ends when the server is back')
  })

  await t.test('taken away, as the page says', async t => {
    t.match(await type(t, remove), /^apiservices.apiregistration.k8s.io v1alpha1.tenancy.kcp.io: deleted$/m)
    t.match(await typed(status), { code: 1, out: /^v1alpha1.tenancy.kcp.io: missing/m })
  })
})
