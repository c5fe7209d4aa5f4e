// A program cannot destroy the default pool of a device.
use cuprum::Device;

fn wrong(device: Device) {
    device.default_pool().unwrap().close().unwrap();
}

fn main() {}
