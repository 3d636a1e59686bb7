/** docs/onboarding.md, command by command, with what it starts: a center, a stand-in cluster, two syncers. */
import { join } from 'node:path'
import t from 'tap'
import { at as field } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { FILE_LIMIT_MS, PATIENCE } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, clientOf, gone, is } from '../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { type Command, freePort, until } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, typedIn } from './support/typedIn.ts'

const PAGE = pagesOf('onboarding.md')
const [, ...SECTIONS] = PAGE.split(/^## /m)
const TITLES = [
  'A center',
  'A cluster',
  'Into the inventory',
  'Its syncer',
  'An object in it',
  'A team that places there',
  'New credentials',
  'A newer release',
  'Out of use for a while',
  'Out of the fleet',
] as const

t.setTimeout(FILE_LIMIT_MS)
t.test(
  'the page leads from nothing to an object in a cluster, and out again',
  { skip: noKubectl(), timeout: FILE_LIMIT_MS },
  async t => {
    const dir = temporaryDir(t)
    const [centerPort, wecPort, healthPort] = await Promise.all([freePort(), freePort(), freePort()])
    const terminal = new Terminal(t, { dir })
    const running: Command[] = []
    /** Its output; none for a program that goes on. */
    const type = async (command: string): Promise<string> => {
      const here = command
        .replaceAll('6443', String(centerPort))
        .replaceAll('6444', String(wecPort))
        .replaceAll(/--timeout=\w+/g, `--timeout=${PATIENCE}`)
      const [, name, value] = /^export (\w+)=(.*)$/.exec(here) ?? []
      if (name !== undefined) terminal.env[name] = value!.replace('$PWD', dir)
      else if (/^orrery (start|simulate-wec|syncer --)/.test(here)) {
        // one syncer of a machine tells how it is at the address that there is for it
        terminal.env.ORRERY_HEALTH_ADDRESS = running.length > 2 ? 'none' : `127.0.0.1:${healthPort}`
        const said =
          running.length > 2
            ? 'standing by until it ends'
            : here.startsWith('orrery syncer')
              ? 'the mailbox is known'
              : 'ready'
        running.push(await terminal.start(here, said))
      } else return await terminal.ok(here)
      return ''
    }
    t.same(
      SECTIONS.map(section => section.slice(0, section.indexOf('\n'))),
      TITLES,
    )
    const typeAll = async (title: (typeof TITLES)[number]): Promise<string[]> => {
      const commands = typedIn(SECTIONS[TITLES.indexOf(title)]!)
      t.ok(commands.length > 0, title)
      const said: string[] = []
      for (const command of commands) said.push(await type(command))
      return said
    }

    await typeAll('A center')
    await typeAll('A cluster')
    const cluster = await clientOf(t, join(dir, 'florin.kubeconfig'))
    await typeAll('Into the inventory')
    const there = await typeAll('Its syncer')
    t.match(there.at(-2), /^NAME .*SUPPORTED.*\nflorin /)
    t.match(there.at(-1), /^State: +serving\nCenter: +answers\nProtocol: +2\nCluster: +answers\n/)

    const object = await typeAll('An object in it')
    t.match(object.at(-2), /florin/)
    t.equal(object.at(-1), 'hello')

    const team = await typeAll('A team that places there')
    t.match(team[0], /placementgrant\.edge\.kubestellar\.io\/shops created\n/)
    t.match(team[2], 'namespace/shop created')
    t.match(team.at(-1), 'workspace.tenancy.kcp.io "shops" deleted')

    const [, list = ''] = await typeAll('New credentials')
    t.match(list, /florin +True /)
    const [, , first] = running

    const newer = typedIn(SECTIONS[TITLES.indexOf('A newer release')]!)
    t.match(newer[0], /^orrery syncer --/)
    await type(newer[0]!)
    const second = running.at(-1)!
    t.equal(await first!.end(), 0)
    await second.said('the mailbox is known')
    const { options, base } = await loadKubeconfig(join(dir, 'center/admin.kubeconfig'), 'base')
    const center = httpClient({ ...options, server: base })
    t.teardown(() => center.close())
    // it is reported now and then
    const isTold = (target: KubeObject | undefined): boolean => field(target?.status, 'versions') !== undefined
    await until(center.in('root:imw1'), TARGETS, { name: 'florin' }, isTold)
    const release: string[] = []
    for (const command of newer.slice(1)) release.push(await type(command))
    t.match(release[1], /florin +\d+\.\d+\.\d+ +v1\./)

    await typeAll('Out of use for a while')
    await until(cluster, MAPS, at('greeting'), is('data', { text: 'hello' }))

    const [, left = ''] = await typeAll('Out of the fleet')
    t.match(left, 'No resources found')
    t.ok(await cluster.get(MAPS, at('greeting')), 'what was placed stays')
    await until(cluster, MAPS, { namespace: 'kube-system', name: 'orrery-syncer' }, gone)
    t.equal(await second.end(), 0)
  },
)
