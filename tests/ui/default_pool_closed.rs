// The default pool of a device is nobody's to destroy.
use cuprum::Device;

fn wrong(device: Device) {
    device.default_pool().unwrap().close().unwrap();
}

fn main() {}
