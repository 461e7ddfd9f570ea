"""Import contracts that import-linter does not ship; pyproject.toml names them under `contract_types`."""

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class StdlibOnlyContract(Contract):
    """Holds when a package imports nothing but itself, the standard library, and the packages that are named.

    An allow-list: import-linter's own `forbidden` contract would have to name every library there is.

    Configuration options:
        - package: the top-level package to check, with all its modules.
        - besides: other top-level packages that it may import.
    """

    package = fields.StringField()
    besides: Any = fields.SetField(subfield=fields.StringField(), required=False, default=())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """List each import that leaves the package and the standard library, as `importer -> imported`."""
        package = str(self.package)
        allowed = sys.stdlib_module_names | {package, *self.besides}
        importers = {package} | graph.find_descendants(package)
        breaches = sorted(
            f"{importer} -> {imported}"
            for importer in importers
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.partition(".")[0] not in allowed
        )
        return ContractCheck(kept=not breaches, metadata={"breaches": breaches})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line for each import that is not allowed."""
        for breach in check.metadata["breaches"]:
            output.print_error(f"{breach}: neither {self.package} nor the standard library")
