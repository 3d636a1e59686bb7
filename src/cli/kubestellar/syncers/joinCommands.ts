/** The commands by which many clusters join: bootstrap credentials, and what comes by them. */
import { BOOTSTRAP_MAX_SECONDS } from '../../../placement/spaces/syncerBootstrap.ts'
import { CONFIRM, type ConfirmOptions } from '../../shell/confirm.ts'
import { type DocumentOptions, NAMES_OUTPUT } from '../../shell/output.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { flag } from '../../shell/settings.ts'
import { lifetime } from '../arguments.ts'
import { type CommonOptions, inInventory, inSession } from '../sessions.ts'
import {
  type BootstrapCreateOptions,
  type BootstrapOptions,
  createBootstrap,
  listBootstraps,
  revokeBootstrap,
} from './bootstraps.ts'
import { approve, type ClaimsOptions, deny } from './claims.ts'
import { CORE, ofSyncer, SERVER } from './syncerCommands.ts'

const CLAIM = flag('--claim <claim>', "the one of several that the syncer's log names, or its beginning")

export const JOIN_COMMANDS: readonly PluginCommand[] = [
  {
    line: 'bootstrap',
    summary: 'one credential of an inventory, by which many clusters join',
    commands: [
      {
        line: 'create',
        summary: "write a kubeconfig with which each new cluster's syncer claims a credential of its own",
        flags: [
          ...CORE,
          flag(
            '-o, --output <file>',
            'where it goes, "-" for stdout, json, yaml or name for that form there; default: <inventory>-bootstrap.kubeconfig',
          ),
          flag('--lifetime <duration>', 'how long clusters may join with it, at most 2160h (90 days)', {
            parse: lifetime(BOOTSTRAP_MAX_SECONDS, '; afterwards no cluster joins by it'),
            default: '168h',
          }),
          flag(
            '--approve <rule>',
            '"by-name": an administrator approves each claim; "listed": the first claim of each SyncTarget needs nobody',
            { default: 'by-name' },
          ),
          SERVER,
        ],
        run: (options: CommonOptions & BootstrapCreateOptions, terminal) =>
          inInventory(options, terminal, (_, session) => createBootstrap(session, options, terminal)),
      },
      {
        line: 'list',
        summary: 'show the bootstrap credentials of all inventories',
        flags: [...CORE, NAMES_OUTPUT],
        run: (options: CommonOptions & BootstrapOptions & DocumentOptions, terminal) =>
          inSession(options, terminal, session => listBootstraps(session, options, terminal)),
      },
      {
        line: 'revoke <name>',
        summary: 'end a bootstrap credential, at once; clusters that joined with it go on',
        flags: [...CORE, CONFIRM],
        change: (options: CommonOptions & BootstrapOptions & ConfirmOptions, terminal, name: string) =>
          inSession(options, terminal, session => revokeBootstrap(session, name, options, terminal)),
      },
    ],
  },
  {
    line: 'approve [synctargets...]',
    summary: 'give clusters that came with a bootstrap credential their own; without names it lists their claims',
    flags: [...CORE, flag('--all', 'all SyncTargets that have one pending claim'), CLAIM, NAMES_OUTPUT],
    run: (options: CommonOptions & ClaimsOptions & DocumentOptions, terminal, ...names) =>
      inInventory(options, terminal, (_, session) => approve(session, names, options, terminal)),
  },
  {
    line: 'deny <synctarget>',
    summary: 'delete the claims of a SyncTarget that got nothing',
    flags: [...CORE, CONFIRM, CLAIM],
    change: ofSyncer(deny),
  },
]
