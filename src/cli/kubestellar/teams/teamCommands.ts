/** The commands for a team: all that it needs in one, the same taken back, and the kubeconfig of a member. */
import { CONFIRM } from '../../shell/confirm.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { IGNORE_NOT_FOUND } from '../../shell/session/deleteSpace.ts'
import { SPACE } from '../../shell/session/session.ts'
import { flag, repeated } from '../../shell/settings.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { lifetime, timeoutSeconds } from '../arguments.ts'
import { PLACES } from '../grants/grantSpec.ts'
import { COMMON, type CommonOptions, INVENTORY, inSession } from '../sessions.ts'
import type { RemoveTeamOptions } from './removeTeam.ts'
import type { TeamOptions } from './teams.ts'

const SUBJECTS = 'groups, comma-separated; a user is written user:NAME'

export const ENSURE_TEAM: PluginCommand = {
  line: 'team <name>',
  summary: "make a team's space under root, with binding, grant, rights and budget; what is not named stays as it is",
  notes: `Members edit and make namespaces, leads administer. A budget that no flag names is 50k objects and 256Mi, if there is none yet.`,
  flags: [
    ...INVENTORY,
    CONFIRM,
    ...PLACES,
    flag('--members <subjects>', `${SUBJECTS}; needed the first time`),
    flag('--leads <subjects>', SUBJECTS),
    flag('--objects <quantity>', 'how many objects the space may hold, such as 50k'),
    flag('--bytes <quantity>', 'how many bytes they may have, such as 256Mi'),
  ],
  change: async (options: TeamOptions, terminal: Terminal, name: string) => {
    const { ensureTeam } = await import('./teams.ts')
    return await inSession(options, terminal, session => ensureTeam(session, name, options, terminal))
  },
}

export const REMOVE_TEAM: PluginCommand = {
  line: 'team <name>',
  summary: "delete a team's space with all that is in it and what it placed, and its grants",
  flags: [
    ...COMMON,
    CONFIRM,
    IGNORE_NOT_FOUND,
    flag('--imw <path>', 'inventory whose grants go; default: those that the space uses'),
  ],
  change: async (options: RemoveTeamOptions & CommonOptions, terminal: Terminal, name: string) => {
    const { removeTeam } = await import('./removeTeam.ts')
    return await inSession(options, terminal, session => removeTeam(session, name, options, terminal))
  },
}

export const MEMBER_KUBECONFIG: PluginCommand = {
  line: 'kubeconfig',
  summary:
    'write a kubeconfig for a user of one space, with a client certificate of that space, an OIDC sign-in or a token',
  notes: `A certificate counts in that space alone, and cannot be revoked: take bindings away, or let it end soon. With the --oidc flags one file serves
a whole team, each member signs in, and --for names the file. The name of a team with a certificate makes one for all its members to share.`,
  flags: [
    ...COMMON,
    SPACE,
    flag('--for <user>', 'name of the user, or of the team', { mandatory: true }),
    flag('--group <name>', "group that the user is in, repeatable; default: groups of the team's members", {
      parse: repeated,
    }),
    flag('--lifetime <duration>', 'how long the certificate counts, at most 8760h (a year); default: 720h', {
      parse: lifetime(8760 * 3600),
    }),
    flag('--oidc-issuer-url <url>', 'the user signs in there, by the plugin "kubectl oidc-login"'),
    flag('--oidc-client-id <id>', 'client of the provider, as the server has it'),
    flag('--oidc-extra-scope <scope>', 'scope to ask for beside openid, repeatable: groups, email', {
      parse: repeated,
    }),
    flag('--token-file <file>', 'put this token into it, "-": from standard input, once the server has named its user'),
    flag(
      '-o, --output <file>',
      'where it goes, "-" for stdout, json, yaml or name for that form there; default: <user>.kubeconfig',
    ),
    flag('--timeout <duration>', 'how long to wait for the certificate; default: 30s', { parse: timeoutSeconds }),
  ],
  load: async () => (await import('./memberKubeconfig.ts')).memberKubeconfig,
}
