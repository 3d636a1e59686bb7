/** Settings that several sub-commands of `orrery` share. Each is a flag, an environment variable and a key of the config file. */
import { flag, type Setting } from '../../shell/settings.ts'

export const CONFIG: Setting = {
  flags: '--config <file>',
  description: 'YAML file with settings, named like the flags without dashes in front',
}

export const OUTPUT: Setting = {
  flags: '-o, --output <format>',
  description: 'a document for programs',
  choices: ['json', 'yaml'],
  flagOnly: true,
}

/** Settings of programs that run until they are stopped. */
export const LOG: readonly Setting[] = [
  {
    flags: '--log-level <level>',
    description: 'least level that is logged: trace, debug, info, warn, error, fatal or silent; default: info',
  },
  {
    flags: '--log-format <format>',
    description: 'form of the log: text for people, json, or auto (text on a terminal, else json); default: auto',
  },
]

const KUBECONFIG = flag('--kubeconfig <file>', 'kubeconfig to use; default: $KUBECONFIG, then ~/.kube/config')

/** How an administrator reaches a server. */
export const ADMINISTRATOR: readonly Setting[] = [
  KUBECONFIG,
  flag('--context <name>', 'context in it; default: its current one'),
]

export const STOPPED_DATA_DIR: Setting = {
  flags: '--data-dir <dir>',
  description: 'data dir of a server that does not run',
  default: '.orrery',
}

/** Whom an assistant asks for, where a call names nothing else. */
export const MCP: readonly Setting[] = [
  KUBECONFIG,
  flag('--space <path>', "workspace that is read; default: the kubeconfig's"),
  flag('-n, --namespace <name>', "namespace; default: the kubeconfig's, else default"),
]
