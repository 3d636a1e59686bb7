/**
 * The pages about the server itself, typed as they stand there, with other folders, ports and names. Commands
 * of systemd (`systemctl`) are left out.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WORKSPACES } from '../../src/apimachinery/resources.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { type Command, freePort, until } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, sectionOf, shellBlocks, typedIn } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = pagesOf('run-server.md', 'users.md', 'guard.md', 'upgrade.md', 'recover.md')

t.setTimeout(FILE_LIMIT_MS)
t.test(
  'what the page says to type about the server does it',
  { skip: noKubectl(), timeout: FILE_LIMIT_MS },
  async t => {
    const dir = temporaryDir(t)
    const port = await freePort()
    const here = (text: string): string =>
      text
        .replaceAll('/var/lib/orrery', join(dir, 'data'))
        .replaceAll(/(?<!\w)\/(?=backup\/|etc\/|var\/log\/)/g, `${dir}/`)
        .replaceAll('orrery.example.org', 'localhost')
        .replaceAll('deploy/', `${ROOT}/deploy/`)
        .replaceAll('HOST:PORT', `localhost:${port}`)
    for (const folder of ['backup', 'etc/systemd/system', 'var/log/orrery', 'home/.kube'])
      mkdirSync(join(dir, folder), { recursive: true })
    const kubeconfig = join(dir, 'me.kubeconfig')
    const terminal = new Terminal(t, {
      dir,
      env: {
        HOME: join(dir, 'home'),
        KUBECONFIG: kubeconfig,
        ORRERY_SECURE_PORT: String(port),
        ORRERY_DATA_DIR: join(dir, 'data'),
        ORRERY_DISK_RESERVE_MIB: '0',
      },
    })
    const type = async (command: string): Promise<string> => {
      const { code, out, err } = await terminal.run(here(command))
      t.equal(code, 0, `${here(command)}\n${err}`)
      return out
    }
    const commandsIn = (heading: string): string[] => typedIn(sectionOf(PAGE, heading))
    const yamlIn = (heading: string): string => here(/^```yaml\n(.*?)^```/ms.exec(sectionOf(PAGE, heading))![1]!)

    /** Starts what a page calls `orrery …`. */
    const started = (command: string): Promise<Command> =>
      terminal.start(here(command), `orrery ready: https://localhost:${port}`)

    const [plain = '', ...more] = commandsIn('## Start')
    t.same(more, [])
    t.equal(await (await started(plain)).end(), 0)
    writeFileSync(join(dir, 'orrery.yaml'), yamlIn('## Start'))
    t.equal(await (await started('orrery start --config orrery.yaml')).end(), 0)

    writeFileSync(join(dir, 'audit-policy.yaml'), yamlIn('## Audit log'))
    const audited = await started(`${commandsIn('## Audit log').join()} --external-hostname localhost`)
    copyFileSync(join(dir, 'data/admin.kubeconfig'), kubeconfig)
    const users = []
    for (const command of commandsIn('## Kubeconfigs and users')) users.push(await type(command))
    t.match(users.at(-1), /^ey\S+\.\S+\.\S+\s*$/, 'a token')

    const { options, base } = await loadKubeconfig(kubeconfig)
    const client = httpClient({ ...options, server: base })
    t.teardown(() => client.close())
    await type('kubectl ws root\nkubectl ws create shops --type root:workload')
    await type('kubectl kubestellar ensure location florin --imw root:imw1 env=prod')
    await type('kubectl kubestellar prep-for-syncer florin --imw root:imw1 -o name')
    const mailboxes = (await client.in('root:espw').list(WORKSPACES)).items.map(({ metadata }) => metadata.name!)
    const mailbox = mailboxes.find(name => name.includes('-mb-')) ?? ''
    for (const command of commandsIn('## Budgets')) await type(command.replace('MAILBOX', mailbox))
    const budgets = async (space: string, name: string) =>
      (await client.in(space).get(WORKSPACES, { name })).metadata.annotations ?? {}
    const shops = await budgets('root', 'shops')
    t.match(shops, { 'tenancy.kcp.io/budget-bytes': '4Gi' })
    t.notOk('tenancy.kcp.io/budget-objects' in shops)
    t.match(await budgets('root:espw', mailbox), { 'tenancy.kcp.io/budget-upsynced-objects': '50k' })
    const [columns = ''] = commandsIn('## Center and syncers of different releases')
    t.match(await type(columns), /SYNCER +.*SUPPORTED.*\nflorin /)
    await type('kubectl ws root:wmw1\nkubectl create namespace app\nkubectl create configmap big -n app')
    t.equal(await audited.end(), 0)
    t.match(readFileSync(join(dir, 'var/log/orrery/audit.log'), 'utf8'), '"name":"shops-edit"')

    const [takenOut, ...others] = shellBlocks(PAGE).filter(each => each.heading === '## A server that does not come up')
    t.same(others, [])
    await type(`${takenOut!.script.replaceAll('--data-dir DIR', '--data-dir /var/lib/orrery')}`)
    t.match(JSON.parse(readFileSync(join(dir, 'kept.json'), 'utf8')), { kind: 'ConfigMap', metadata: { name: 'big' } })
    const again = await type('orrery store stats --data-dir /var/lib/orrery')
    t.match(again, /configmaps/)

    await type('cp -a /var/lib/orrery /backup/copy')
    t.match(await type('orrery store verify --data-dir /backup/copy'), /^intact: /)
    rmSync(join(dir, 'data'), { recursive: true })
    await type('cp -a /backup/copy /var/lib/orrery')
    const restored = await started(plain)
    await until(client.in('root'), WORKSPACES, { name: 'shops' }, found => found !== undefined)
    for (const command of commandsIn('## As a service').filter(each => !each.includes('systemctl'))) {
      for (const [file] of command.matchAll(/\b(?:florin|cluster)\.kubeconfig(?= )/g))
        copyFileSync(kubeconfig, join(dir, file))
      await type(command.replaceAll(/(?<= )(florin|cluster)\.kubeconfig(?= )/g, join(dir, '$1.kubeconfig')))
    }
    t.match(readFileSync(join(dir, 'etc/orrery/orrery.env'), 'utf8'), 'ORRERY_EXTERNAL_HOSTNAME=localhost\n')
    t.match(readFileSync(join(dir, 'home/.kube/orrery.kubeconfig'), 'utf8'), `https://localhost:${port}`)
    t.ok(readFileSync(join(dir, 'etc/orrery-syncer/florin/mailbox.kubeconfig')))
    t.equal(await restored.end(), 0)
  },
)
