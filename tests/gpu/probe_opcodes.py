"""Runs every form of forms.py and warp_forms.py and writes what came out as opcodes.txt.

Lines of text: `# key: value` for provenance; `grid NAME WIDTH VALUES...`; `form WIDTH GRIDS TEXT`, `warp THREADS TEXT` or
`cluster THREADS TEXT`, each followed by one line of results in hexadecimal without leading zeros: one value a thread for a form,
two per thread (%d, then %e) for a warp form. A form that could not run is `failed CODE` instead.
"""

import pathlib
import struct
import sys

import driver
import forms
import warp_forms

CODES = {16: "H", 32: "I", 64: "Q"}
FORMS_PER_MODULE = 64


def pack(values, width):
    return struct.pack(f"<{len(values)}{CODES[width]}", *values)


def unpack(data, width):
    return struct.unpack(f"<{len(data) * 8 // width}{CODES[width]}", data)


def run_form(module, name, form, columns_on_device):
    if form.grids not in columns_on_device:
        columns = forms.combinations(form)
        pointers = [driver.upload(pack(column, forms.GRIDS[grid][0])) for column, grid in zip(columns, form.grids)]
        columns_on_device[form.grids] = (len(columns[0]), pointers + [0] * (3 - len(pointers)))
    count, pointers = columns_on_device[form.grids]
    size = count * form.width // 8
    output = driver.allocate(size)
    arguments = [pack([pointer], 64) for pointer in [output] + pointers] + [pack([count], 32)]
    blocks = -(-count // forms.BLOCK)
    driver.launch(driver.function(module, name), (blocks, 1, 1), (forms.BLOCK, 1, 1), arguments)
    driver.synchronize()
    data = driver.download(output, size)
    driver.free(output)
    return unpack(data, form.width)


def results(batch, columns_on_device):
    """Outputs of a list of forms; a module that is refused is tried form by form, so that one costs only itself."""
    names = [f"form_{index}" for index in range(len(batch))]
    entries = [forms.entry(name, form) for name, form in zip(names, batch)]
    try:
        module = driver.load(forms.HEADER + "\n".join(entries))
    except driver.DriverError as error:
        if len(batch) == 1:
            print(f"{batch[0].text}: {error}")
            return [error]
        return [outcome for form in batch for outcome in results([form], columns_on_device)]
    outcomes = [run_form(module, name, form, columns_on_device) for name, form in zip(names, batch)]
    driver.check("cuModuleUnload", module)
    return outcomes


def line_of(outcome):
    if isinstance(outcome, driver.DriverError):
        return f"failed {outcome.code}"
    return " ".join(f"{value:x}" for value in outcome)


def record(path):
    driver.start()
    everything, columns_on_device = forms.all_forms(), {}
    with path.open("w") as file:
        for key, text in driver.describe().items():
            print(f"# {key}: {text}", file=file)
        for name, (width, values) in forms.GRIDS.items():
            print("grid", name, width, *(f"{value:x}" for value in values), file=file)
        for first in range(0, len(everything), FORMS_PER_MODULE):
            batch = everything[first : first + FORMS_PER_MODULE]
            for form, outcome in zip(batch, results(batch, columns_on_device)):
                print("form", form.width, ",".join(form.grids), form.text, file=file)
                print(line_of(outcome), file=file)
        for form in warp_forms.all_forms():
            # Written at once: should a form hang, the ones before it are safe.
            print(form.kind, form.threads, form.text, file=file, flush=True)
            print(line_of(warp_forms.run(form)), file=file, flush=True)


if __name__ == "__main__":
    record(pathlib.Path(sys.argv[1]))
